//! What every report of a run has: the state it ended in, its warnings, its machine, and how to repeat it.

use record::model::{Environment, Run, RunStatus, Unit, Warning};

use crate::date;
use crate::document::{Item, Report, Tone};
use crate::quantity;

/// Says first when the run is not whole.
pub(crate) fn status(report: &mut Report, run: &Run) {
    let text = match run.status {
        RunStatus::Complete => return,
        RunStatus::Open => {
            "This run has not ended, or its process was killed; this is what it had found so far."
        }
        RunStatus::Interrupted => "This run was interrupted; this is what it had found so far.",
        RunStatus::Failed => "The command failed in this run.",
    };
    report.sentence(Tone::Bad, text);
}

/// Warnings; the same one twice is told once.
pub(crate) fn warnings<'a>(report: &mut Report, warnings: impl IntoIterator<Item = &'a Warning>) {
    for warning in warnings {
        let item = Item::Warning {
            code: warning.code.clone(),
            advice: warning.advice.clone(),
        };
        if !report.items.contains(&item) {
            report.items.push(item);
        }
    }
}

/// The machine and the instant, in small print.
pub(crate) fn environment(report: &mut Report, run: &Run) {
    let machine = machine(&run.environment);
    let started = format!("started {}, seed {}", date::utc(run.started_unix), run.seed);
    report.note(if machine.is_empty() {
        started
    } else {
        format!("{machine}; {started}")
    });
    if let Some(version) = run.environment.wine() {
        report.note(format!(
            "These figures were made under Wine {version} and say nothing about the speed of Windows itself."
        ));
    }
}

fn machine(environment: &Environment) -> String {
    let mut parts = Vec::new();
    for (name, value) in &environment.facts {
        if value.is_empty() {
            continue;
        }
        match (name.as_str(), value.parse::<f64>()) {
            ("cpus", _) => parts.push(format!("{value} CPUs")),
            ("host" | "distribution" | "cpu_model" | "os" | "libc", _) => parts.push(value.clone()),
            ("memory_bytes", Ok(bytes)) => parts.push(quantity::text(bytes, Unit::Bytes)),
            ("kernel" | "wine", _) => parts.push(format!("{name} {value}")),
            ("virtualised", _) if value == "no" || value == "false" => {}
            ("virtualised", _) => parts.push(format!("virtualised ({value})")),
            _ => {}
        }
    }
    if let Some(clock) = &environment.clock {
        parts.push(format!(
            "clock {} ({} a reading)",
            clock.name,
            quantity::text(clock.cost_ns, Unit::Nanoseconds)
        ));
    }
    parts.join(", ")
}

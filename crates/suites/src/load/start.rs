//! Starting a program with many libraries: to its first instruction, and to its end.
//!
//! One operation is one start, followed to the entry and ended there. Between these, starts that nobody follows are timed to their
//! exit: what a loader leaves for later, and what the program does itself, shows only there.

use std::path::Path;

use measure::benchmark::{Benchmark, Info, MetricInfo, Preset};
use measure::model::{Case, Support, Unit};
use measure::trial::{Amount, Sample, Trial, TrialError};
use os::process::{Arrival, End, Spec, Visit};

use super::set::{self, CROSS, FUNCTIONS, GLOBALS, LIBRARIES, NAME_LENGTH, REFERENCES};
use super::subject;

pub struct Start;

const INFO: Info = Info {
    suite: "load",
    name: "start",
    summary: "start a program made of many libraries, to its entry point and to its exit",
    parameters: &[LIBRARIES, FUNCTIONS, GLOBALS, REFERENCES, NAME_LENGTH, CROSS],
    metrics: &[
        metric("to_entry_us", Unit::Microseconds),
        metric("to_exit_us", Unit::Microseconds),
        metric("entry_minor_faults", Unit::Count),
        metric("entry_major_faults", Unit::Count),
        metric("private_dirty_bytes", Unit::Bytes),
        metric("file_bytes", Unit::Bytes),
    ],
    presets: &[
        Preset {
            name: "seed",
            summary: "the article's set: 10 libraries, 100 functions, 5 references",
            settings: &[("libraries", "10"), ("functions", "100"), ("globals", "5")],
        },
        Preset {
            name: "large",
            summary: "20 libraries, 1,000 long names and 20,000 relative relocations each",
            settings: &[
                ("libraries", "20"),
                ("functions", "1000"),
                ("globals", "20"),
                ("name_length", "60"),
            ],
        },
    ],
    // Two switches between processes.
    floor_ns: 500.0,
};

const fn metric(name: &'static str, unit: Unit) -> MetricInfo {
    MetricInfo { name, unit }
}

impl Benchmark for Start {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn takes(&self, subject: &str) -> bool {
        subject::starts(subject)
    }

    fn support(&self, case: &Case) -> Support {
        set::elf_support(case)
    }

    fn run(&self, trial: &mut Trial) -> Result<(), TrialError> {
        let program = set::program()?;
        let cpu = trial.cpus().first().copied().or_else(last_cpu);
        let mut runs = Runs::default();
        trial.collect(
            Amount::Fixed(1),
            |_| {
                let arrival = to_entry(&program, cpu)?;
                runs.to_exit_us.push(to_exit_us(&program)?);
                let elapsed_ns = arrival.ns.unwrap_or(0) as f64;
                runs.to_entry_us.push(elapsed_ns / 1e3);
                runs.arrivals.push(arrival);
                Ok(Sample {
                    elapsed_ns,
                    threads: 1,
                    operations: 1,
                    verified: 1,
                    waited_ns: None,
                })
            },
            || 0.0,
        )?;
        runs.tell(trial);
        trial.value(
            "file_bytes",
            file_bytes(program.parent().unwrap_or(Path::new("/")))?,
        );
        Ok(())
    }
}

/// What the starts of one trial showed.
#[derive(Default)]
struct Runs {
    to_entry_us: Vec<f64>,
    to_exit_us: Vec<f64>,
    arrivals: Vec<Arrival>,
}

impl Runs {
    /// Records the medians.
    fn tell(&self, trial: &mut Trial) {
        let of = |pick: fn(&Arrival) -> Option<u64>| {
            self.arrivals
                .iter()
                .filter_map(|arrival| pick(arrival).map(|value| value as f64))
                .collect::<Vec<_>>()
        };
        let columns = [
            ("to_entry_us", self.to_entry_us.clone()),
            ("to_exit_us", self.to_exit_us.clone()),
            ("entry_minor_faults", of(|arrival| arrival.minor_faults)),
            ("entry_major_faults", of(|arrival| arrival.major_faults)),
            ("private_dirty_bytes", of(|arrival| arrival.private_dirty_bytes)),
        ];
        for (name, values) in columns {
            trial.median(name, &values);
        }
    }
}

/// The last processor: interrupts and other programs favour the first.
fn last_cpu() -> Option<usize> {
    os::topology::allowed().ok()?.iter().last()
}

fn to_entry(program: &Path, cpu: Option<usize>) -> Result<Arrival, TrialError> {
    let mut spec = Spec::new(program);
    spec.cpus = cpu.map(|cpu| vec![cpu]);
    let visit = Visit::to_entry(1);
    let failed = |what: String| TrialError::Verification(format!("{} {what}", program.display()));
    let mut seen = os::process::visit(&spec, visit).map_err(|error| failed(error.to_string()))?;
    match (seen.end, seen.arrivals.pop()) {
        (End::Stopped, Some(arrival)) if arrival.ns.is_some() => Ok(arrival),
        (end, _) => Err(failed(format!("did not reach its entry: {end:?}"))),
    }
}

fn to_exit_us(program: &Path) -> Result<f64, TrialError> {
    let took = os::process::time_to_exit(program)
        .map_err(|error| TrialError::System(format!("run {}", program.display()), error))?;
    Ok(took.as_nanos() as f64 / 1e3)
}

/// The size of the program, its libraries, and what else is loaded with it.
fn file_bytes(folder: &Path) -> Result<f64, TrialError> {
    let failed = |error| TrialError::System(format!("read {}", folder.display()), error);
    let mut bytes = 0.0;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let metadata = entry.metadata().map_err(failed)?;
        if metadata.is_dir() && name != set::TREATED {
            bytes += file_bytes(&entry.path())?;
        } else if name == "app" || name == "guard" || name.to_string_lossy().ends_with(".so") {
            bytes += metadata.len() as f64;
        }
    }
    Ok(bytes)
}

//! The report of a run of benchmarks: findings first, then a table a benchmark, pictures, what could not run.

pub mod article;
mod charts;
mod findings;
mod groups;
mod table;

use record::model::{Case, Run, Unsupported};

use crate::document::{Column, Item, Report, Row, Table, Tone};
use crate::parts;

pub use findings::findings;

/// The report of a run of `measure`; with `details` rarely needed metrics are shown, too.
#[must_use]
pub fn report(run: &Run, details: bool) -> Report {
    let benchmarks = groups::of(run);
    let mut report = Report::new(match benchmarks.len() {
        0 => "Nothing was measured".to_owned(),
        1 => format!("Benchmark {}", benchmarks[0].name),
        n => format!("{n} benchmarks"),
    });
    parts::status(&mut report, run);
    // Few findings come first; those of many benchmarks come last, where a long output ends.
    let many = benchmarks.len() > findings::FEW;
    let findings = findings::all(&benchmarks)
        .into_iter()
        .map(|(tone, text)| Item::Sentence(tone, text));
    let findings: Vec<Item> = findings.collect();
    if !many {
        report.items.extend(findings.iter().cloned());
    }
    for benchmark in &benchmarks {
        report.heading(benchmark.name.clone());
        report.items.push(Item::Table(table::of(benchmark, details)));
        report
            .items
            .extend(charts::of(benchmark).into_iter().map(Item::Chart));
    }
    let contaminated = contaminated(run);
    if !contaminated.is_empty() {
        report.note(contaminated);
    }
    if !run.unsupported.is_empty() {
        report.heading("Not measured");
        report.items.push(Item::Table(unsupported(&run.unsupported)));
    }
    parts::warnings(&mut report, &run.warnings);
    if run
        .measurements
        .iter()
        .flat_map(|m| &m.metrics)
        .any(|metric| metric.low.is_none())
    {
        report.note("Figures without an interval rest on fewer than six trials; --runs 6 or more gives one.");
    }
    if !benchmarks.is_empty() {
        report.note(
            "Intervals are 95 % over trials (fresh processes). A ratio's interval is made of the ends of both and is \
             therefore on the wide side.",
        );
    }
    parts::environment(&mut report, run);
    if many {
        report.heading("Findings");
        report.items.extend(findings);
    }
    report
}

/// As many reasons are told one by one.
const TOLD: usize = 3;

/// How many trials are to be read with care, and the reasons.
fn contaminated(run: &Run) -> String {
    let trials = run.measurements.iter().flat_map(|m| &m.trials);
    let (mut all, mut some) = (0, 0);
    let mut reasons: Vec<&str> = Vec::new();
    for trial in trials {
        all += 1;
        if let Some(reason) = &trial.contaminated {
            some += 1;
            if !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
    }
    match some {
        0 => String::new(),
        _ => {
            let more = match reasons.len().saturating_sub(TOLD) {
                0 => String::new(),
                more => format!("; and {more} more of the kind"),
            };
            reasons.truncate(TOLD);
            format!(
                "{some} of {all} trials were disturbed: {}{more}.",
                reasons.join("; ")
            )
        }
    }
}

/// Subjects of one benchmark that are missing for the same reason share a row.
fn unsupported(list: &[Unsupported]) -> Table {
    let mut rows: Vec<(String, Vec<String>, &str)> = Vec::new();
    for row in list {
        let (benchmark, subject) = match row.case.parse::<Case>() {
            Ok(case) => (case.full_benchmark(), case.subject),
            Err(_) => (row.case.clone(), String::new()),
        };
        match rows
            .iter_mut()
            .find(|(name, _, reason)| *name == benchmark && *reason == row.reason)
        {
            Some((_, subjects, _)) if subjects.contains(&subject) => {}
            Some((_, subjects, _)) => subjects.push(subject),
            None => rows.push((benchmark, vec![subject], &row.reason)),
        }
    }
    let row = |(benchmark, subjects, reason): (String, Vec<String>, &str)| Row {
        tone: Tone::Dim,
        cells: vec![benchmark.into(), subjects.join(" ").into(), reason.into()],
    };
    Table {
        caption: String::new(),
        columns: ["benchmark", "subjects", "reason"].map(Column::always).to_vec(),
        rows: rows.into_iter().map(row).collect(),
    }
}

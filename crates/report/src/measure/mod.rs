//! The report of a run of benchmarks: findings first, then a table a benchmark, pictures, what could not run.

mod charts;
mod findings;
mod groups;
mod table;

use record::model::{Run, Unsupported};

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
    for (tone, text) in findings::all(&benchmarks) {
        report.sentence(tone, text);
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
    report
}

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
        _ => format!("{some} of {all} trials were disturbed: {}.", reasons.join("; ")),
    }
}

/// Cases with the same reason share a row.
fn unsupported(list: &[Unsupported]) -> Table {
    let mut rows: Vec<(Vec<&str>, &str)> = Vec::new();
    for row in list {
        match rows.iter_mut().find(|(_, reason)| *reason == row.reason) {
            Some((cases, _)) => cases.push(&row.case),
            None => rows.push((vec![&row.case], &row.reason)),
        }
    }
    Table {
        caption: String::new(),
        columns: vec![Column::always("case"), Column::always("reason")],
        rows: rows
            .into_iter()
            .map(|(cases, reason)| Row {
                tone: Tone::Dim,
                cells: vec![cases.join(" ").into(), reason.into()],
            })
            .collect(),
    }
}

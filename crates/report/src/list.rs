//! The benchmarks, as a table; what cannot run here stands in it with the reason.

use record::model::{BenchmarkInfo, Support};

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};

/// The report of a list of benchmarks.
#[must_use]
pub fn report(benchmarks: &[BenchmarkInfo]) -> Report {
    let mut report = Report::new("Benchmarks");
    if benchmarks.is_empty() {
        report.sentence(
            Tone::Plain,
            "No benchmark has such a name; `underhood list` shows all of them.",
        );
        return report;
    }
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns: vec![
            Column::always("benchmark"),
            Column::always("what it does"),
            Column::ranked(2, "parameters"),
            Column::ranked(1, "subjects"),
        ],
        rows: benchmarks.iter().map(row).collect(),
    }));
    let mut missing: Vec<(&str, &str)> = Vec::new();
    for subject in benchmarks.iter().flat_map(|benchmark| &benchmark.subjects) {
        if let Support::No(reason) = &subject.support
            && !missing.contains(&(&subject.name, reason))
        {
            missing.push((&subject.name, reason));
        }
    }
    for (name, reason) in missing {
        report.note(format!("{name} cannot be measured here: {reason}"));
    }
    report
}

fn row(benchmark: &BenchmarkInfo) -> Row {
    let what: Cell = match &benchmark.support {
        Support::Yes => benchmark.summary.as_str().into(),
        Support::No(reason) => format!("{}. Not supported here: {reason}", benchmark.summary).into(),
    };
    let parameters = benchmark.parameters.iter().map(|p| {
        let unit = if p.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", p.unit)
        };
        format!("{}={}{unit}", p.name, p.default)
    });
    let subjects = benchmark
        .subjects
        .iter()
        .filter(|s| s.support.is_yes())
        .map(|s| s.name.as_str());
    Row {
        tone: if benchmark.support.is_yes() {
            Tone::Plain
        } else {
            Tone::Dim
        },
        cells: vec![
            benchmark.name.as_str().into(),
            what,
            parameters.collect::<Vec<_>>().join(" ").into(),
            subjects.collect::<Vec<_>>().join(" ").into(),
        ],
    }
}

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
            Column::ranked(1, "parameters"),
        ],
        rows: benchmarks.iter().map(row).collect(),
    }));
    // The benchmarks of a suite mostly share their subjects, and the names are long: each list is written once.
    let mut shared: Vec<(String, Vec<&str>)> = Vec::new();
    for benchmark in benchmarks {
        let subjects = subjects(benchmark);
        match shared.iter_mut().find(|(known, _)| *known == subjects) {
            Some((_, names)) => names.push(&benchmark.name),
            None => shared.push((subjects, vec![&benchmark.name])),
        }
    }
    let one = shared.len() == 1;
    for (subjects, names) in shared {
        let of = if one {
            String::new()
        } else {
            format!(" of {}", names.join(", "))
        };
        report.sentence(Tone::Plain, format!("Subjects{of}: {subjects}"));
    }
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
        ],
    }
}

/// The names of the subjects that can be measured here.
fn subjects(benchmark: &BenchmarkInfo) -> String {
    let names: Vec<_> = benchmark
        .subjects
        .iter()
        .filter(|subject| subject.support.is_yes())
        .map(|subject| subject.name.as_str())
        .collect();
    names.join(", ")
}

//! The stored runs, as a table.

use record::model::{RunStatus, RunSummary};

use crate::date;
use crate::document::{Column, Item, Report, Row, Table, Tone};

/// The report of the runs of a store, in the order given.
#[must_use]
pub fn report(runs: &[RunSummary]) -> Report {
    let mut report = Report::new("Stored runs");
    if runs.is_empty() {
        report.sentence(
            Tone::Plain,
            "No run is stored yet; `underhood measure`, `time` and `tune` store theirs.",
        );
        return report;
    }
    let row = |run: &RunSummary| Row {
        tone: match run.status {
            RunStatus::Complete => Tone::Plain,
            RunStatus::Failed => Tone::Bad,
            RunStatus::Open | RunStatus::Interrupted => Tone::Dim,
        },
        cells: vec![
            run.id.to_string().into(),
            date::utc(run.started_unix).into(),
            run.kind.name().into(),
            run.status.word().into(),
            run.what.as_str().into(),
            run.host.as_str().into(),
        ],
    };
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns: vec![
            Column::always("run"),
            Column::always("started"),
            Column::always("command"),
            Column::ranked(1, "status"),
            Column::always("what"),
            Column::ranked(2, "host"),
        ],
        rows: runs.iter().map(row).collect(),
    }));
    report
}

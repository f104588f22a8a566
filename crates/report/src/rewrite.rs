//! What was changed in PE files, as a sentence and a table.

use record::format::rewrite::{Bound, Rebased};

use crate::document::{Column, Item, Report, Row, Table, Tone};

/// The report of files that got addresses of their own.
#[must_use]
pub fn rebased(document: &Rebased, dry_run: bool) -> Report {
    let mut report = Report::new("Rebased");
    let moved = document.files.iter().filter(|file| file.from != file.to).count();
    let fixups: u64 = document.files.iter().map(|file| file.fixups).sum();
    report.sentence(
        Tone::Good,
        format!(
            "{moved} of {} files {} another address, {fixups} fixups {} applied: none of them is moved when the set is loaded.",
            document.files.len(),
            if dry_run { "would get" } else { "got" },
            if dry_run { "would be" } else { "are" },
        ),
    );
    kept(
        &mut report,
        document.files.iter().filter_map(|file| file.original.as_deref()),
    );
    let cells = |file: &record::format::rewrite::RebasedFile| {
        vec![
            file.file.as_str().into(),
            file.from.as_str().into(),
            file.to.as_str().into(),
            file.fixups.to_string().into(),
        ]
    };
    table(
        &mut report,
        vec![
            Column::always("file"),
            Column::ranked(1, "asked for"),
            Column::always("asks for"),
            Column::always("fixups"),
        ],
        document.files.iter().map(cells).collect(),
    );
    report
}

/// The report of files whose imports are bound.
#[must_use]
pub fn bound(document: &Bound, dry_run: bool) -> Report {
    let mut report = Report::new("Bound");
    let slots: u64 = document.files.iter().map(|file| file.slots).sum();
    report.sentence(
        Tone::Good,
        format!(
            "{slots} imports of {} files {} to their addresses: the loader looks none of these up while the libraries are the same and lie where they ask to.",
            document.files.len(),
            if dry_run { "would be bound" } else { "are bound" },
        ),
    );
    kept(
        &mut report,
        document.files.iter().filter_map(|file| file.original.as_deref()),
    );
    let cells = |file: &record::format::rewrite::BoundFile| {
        let left: Vec<String> = file
            .left
            .iter()
            .map(|left| format!("{}: {}", left.library, left.reason))
            .collect();
        vec![
            file.file.as_str().into(),
            file.slots.to_string().into(),
            file.libraries.join(", ").into(),
            left.join("; ").into(),
        ]
    };
    table(
        &mut report,
        vec![
            Column::always("file"),
            Column::always("imports"),
            Column::ranked(2, "bound to"),
            Column::ranked(1, "left to the loader"),
        ],
        document.files.iter().map(cells).collect(),
    );
    report
}

fn kept<'a>(report: &mut Report, mut originals: impl Iterator<Item = &'a str>) {
    if originals.next().is_some() {
        report.note(
            "The originals are kept beside the files; `underhood image undo FILES` puts them back."
                .to_owned(),
        );
    }
}

fn table(report: &mut Report, columns: Vec<Column>, rows: Vec<Vec<crate::document::Cell>>) {
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns,
        rows: rows
            .into_iter()
            .map(|cells| Row {
                tone: Tone::Plain,
                cells,
            })
            .collect(),
    }));
}

//! What was generated, as a table.

use record::format::image::{Document, File};

use crate::document::{Column, Item, Report, Row, Table, Tone};

/// How many libraries are listed one by one.
const LISTED: usize = 12;

/// The report of a generated set in `folder`.
#[must_use]
pub fn generated(folder: &str, document: &Document) -> Report {
    let mut report = Report::new("Generated");
    let sum = |of: fn(&File) -> u64| document.files.iter().map(of).sum::<u64>();
    report.sentence(
        Tone::Good,
        format!(
            "{folder} has the program {} and {} libraries: {} imports in the program, {} relocations in the libraries. Counted in the files: it is what was asked for.",
            document.program.file,
            document.files.len(),
            document.program.imports,
            sum(|file| file.relative_relocations + file.symbol_references),
        ),
    );
    let row = |file: &File| Row {
        tone: Tone::Plain,
        cells: vec![
            file.file.as_str().into(),
            file.imports.to_string().into(),
            file.imports_by_ordinal.to_string().into(),
            file.other_imports.to_string().into(),
            file.relative_relocations.to_string().into(),
            file.symbol_references.to_string().into(),
            file.base.as_str().into(),
        ],
    };
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns: vec![
            Column::always("file"),
            Column::always("imports"),
            Column::ranked(1, "by ordinal"),
            Column::ranked(2, "other imports"),
            Column::always("relative"),
            Column::ranked(1, "by symbol"),
            Column::ranked(1, "base"),
        ],
        rows: std::iter::once(&document.program)
            .chain(document.files.iter().take(LISTED))
            .map(row)
            .collect(),
    }));
    if document.files.len() > LISTED {
        report.note(format!(
            "{} more libraries stand in manifest.json",
            document.files.len() - LISTED
        ));
    }
    report
}

//! Bound copies of ELF programs, as sentences and a table.

use record::format::bound::{Document, Object, Verified};

use crate::document::{Column, Item, Report, Row, Table, Tone};

/// How many objects are listed, those with the most to do first.
const LISTED: usize = 12;

/// The report of a copy that was made.
#[must_use]
pub fn made(document: &Document) -> Report {
    let mut report = Report::new("Bound");
    let copies = document
        .objects
        .iter()
        .filter(|object| object.copy.is_some())
        .count();
    let sum = |of: fn(&Object) -> u64| document.objects.iter().map(of).sum::<u64>();
    let what = if document.bound {
        "a bound copy"
    } else {
        "a moved copy"
    };
    report.sentence(
        Tone::Good,
        format!(
            "{} is {what} of {}: {} of its {} files have copies, {} relative relocations and {} references to symbols are done beforehand ({} of these are filled in at start), {} relocations are left to the loader.",
            document.copy,
            document.program,
            copies,
            document.objects.len(),
            sum(|object| object.relative),
            sum(|object| object.bound),
            sum(|object| object.filled),
            sum(|object| object.kept),
        ),
    );
    if let Some(verified) = &document.verified {
        compared(&mut report, &document.copy, verified);
    }
    for note in &document.notes {
        report.note(note.clone());
    }
    let mut objects: Vec<&Object> = document.objects.iter().collect();
    objects.sort_by_key(|object| std::cmp::Reverse(object.relative + object.bound));
    let row = |object: &&Object| Row {
        tone: Tone::Plain,
        cells: vec![
            name(&object.file).into(),
            object.relative.to_string().into(),
            object.bound.to_string().into(),
            object.filled.to_string().into(),
            object.kept.to_string().into(),
            object.stays.as_deref().unwrap_or_default().into(),
        ],
    };
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns: vec![
            Column::always("file"),
            Column::always("relative"),
            Column::always("bound"),
            Column::ranked(2, "filled in"),
            Column::ranked(1, "left"),
            Column::ranked(1, "why it stays"),
        ],
        rows: objects.iter().take(LISTED).map(row).collect(),
    }));
    if objects.len() > LISTED {
        report.note(format!(
            "{} more files stand in {}/bound.json",
            objects.len() - LISTED,
            document.folder
        ));
    }
    report
}

/// The report of copies that were compared with their originals.
#[must_use]
pub fn verified(documents: &[Document]) -> Report {
    let mut report = Report::new("Verified");
    for document in documents {
        if let Some(verified) = &document.verified {
            compared(&mut report, &document.copy, verified);
        }
    }
    report
}

fn compared(report: &mut Report, copy: &str, verified: &Verified) {
    if verified.differences == 0 {
        report.sentence(
            Tone::Good,
            format!(
                "{copy}, loaded, is the original: {} relocated words lead to the same places, {} other bytes are the same.",
                verified.words, verified.bytes
            ),
        );
        return;
    }
    report.sentence(
        Tone::Bad,
        format!(
            "{copy}, loaded, differs from the original in {} places.",
            verified.differences
        ),
    );
    for difference in &verified.first {
        report.note(difference.clone());
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

//! The report of a PE file: what it asks of the loader, and with its libraries, what the loader does for it.

mod closure;

use record::format::inspect::Document;
use record::format::inspect::pe::{Bound, Delayed, File, Heap, Import, Inspection};
use record::model::Unit;

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::quantity;

/// How many rows a table of libraries has.
const LISTED: usize = 40;
/// Pages of Windows.
const PAGE: u64 = 4096;

/// The report of a document whose `pe` is not null; an empty one otherwise.
#[must_use]
pub fn report(document: &Document) -> Report {
    let mut report = Report::new(format!("Inspected {}", document.file));
    let Some(inspection) = &document.pe else {
        return report;
    };
    report.sentence(Tone::Plain, what(&document.file, inspection));
    match inspection {
        Inspection { heap: Some(heap), .. } => of_heap(&mut report, heap, &inspection.file),
        Inspection {
            closure: Some(found), ..
        } => closure::of(&mut report, found),
        _ => alone(&mut report, inspection),
    }
    report
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let number = quantity::text(count as f64, Unit::Count);
    format!("{number} {}", if count == 1 { one } else { many })
}

/// What the file is, in a sentence.
fn what(name: &str, inspection: &Inspection) -> String {
    let file = &inspection.file;
    let sum = |of: fn(&Import) -> u64| inspection.imports.iter().map(of).sum::<u64>();
    let imports = match inspection.imports.len() as u64 {
        0 => "imports nothing".to_owned(),
        libraries => format!(
            "imports {} by name and {} by ordinal from {}",
            counted(sum(|import| import.by_name), "function", "functions"),
            sum(|import| import.by_ordinal),
            counted(libraries, "library", "libraries"),
        ),
    };
    let fixups = file.fixups.0.iter().map(|(_, count)| count).sum();
    format!(
        "{name} is a Windows {} for {}. It {imports}, and has {}.",
        file.kind,
        file.machine,
        counted(fixups, "fixup", "fixups"),
    )
}

fn of_heap(report: &mut Report, heap: &Heap, file: &File) {
    report.sentence(Tone::Plain, heap.reason.clone());
    report.sentence(Tone::Plain, heap.choice.clone());
    let row = |what: &str, names: &[String]| Row {
        tone: Tone::Plain,
        cells: vec![what.into(), names.join(" ").into()],
    };
    let rows: Vec<_> = [("C and C++", &heap.of_language), ("system", &heap.of_system)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| row(what, names))
        .collect();
    if !rows.is_empty() {
        report.items.push(Item::Table(Table {
            caption: String::new(),
            columns: vec![Column::always("heap of"), Column::always("functions imported")],
            rows,
        }));
    }
    report.note(format!("The linker has version {}.", file.linker));
}

fn alone(report: &mut Report, inspection: &Inspection) {
    let file = &inspection.file;
    report.items.push(Item::Table(Table {
        caption: String::new(),
        columns: vec![Column::always("fact"), Column::always("value")],
        rows: facts(file)
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| Row {
                tone: Tone::Plain,
                cells: vec![name.into(), value.into()],
            })
            .collect(),
    }));
    if !inspection.imports.is_empty() {
        report.items.push(Item::Table(imports(&inspection.imports)));
        if inspection.imports.len() > LISTED {
            let more = inspection.imports.len() - LISTED;
            report.note(format!("{more} more libraries stand in the document (--json)."));
        }
    }
    delayed(report, &inspection.delayed);
    bound(report, &inspection.bound);
    remarks(report, file);
}

fn facts(file: &File) -> Vec<(&'static str, String)> {
    let bytes = |bytes: u64| quantity::text(bytes as f64, Unit::Bytes);
    let end = u64::from_str_radix(file.base.trim_start_matches("0x"), 16)
        .unwrap_or(0)
        .saturating_add(file.image_bytes);
    let address = match (file.dynamic_base, file.high_entropy) {
        (true, true) => "chosen by Windows (DYNAMIC_BASE), among all of 64 bits (HIGH_ENTROPY_VA)",
        (true, false) => "chosen by Windows (DYNAMIC_BASE)",
        (false, _) => "the preferred one when it is free",
    };
    let fixups: Vec<_> = file
        .fixups
        .0
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let fixups = match (fixups.is_empty(), file.relocations_stripped) {
        (_, true) => "stripped: it can lie nowhere else".to_owned(),
        (true, false) => String::new(),
        (false, false) => format!(
            "{} on {} of 4 KiB",
            fixups.join(", "),
            counted(file.fixup_pages, "page", "pages")
        ),
    };
    let exports = format!(
        "{} by name, {} by number only, {} of them forwarded",
        file.exported_names, file.exported_numbers_only, file.forwarders
    );
    let checksum = if file.checksum == file.checksum_computed {
        format!("{}, right", file.checksum)
    } else {
        format!("{}, computed {}", file.checksum, file.checksum_computed)
    };
    vec![
        ("size", bytes(file.size_bytes)),
        ("in memory", bytes(file.image_bytes)),
        ("subsystem", file.subsystem.clone()),
        ("preferred base", format!("{} to {end:#x}", file.base)),
        ("address", address.to_owned()),
        ("fixups", fixups),
        (
            "alignment",
            format!(
                "{} in memory, {} in the file",
                bytes(file.section_alignment_bytes),
                bytes(file.file_alignment_bytes)
            ),
        ),
        (
            "exports",
            if file.exported_names + file.exported_numbers_only > 0 {
                exports
            } else {
                String::new()
            },
        ),
        (
            "called before entry",
            file.tls_callbacks
                .map(|count| counted(count, "thread-local callback", "thread-local callbacks"))
                .unwrap_or_default(),
        ),
        ("linker", file.linker.clone()),
        ("stamp", file.stamp.to_string()),
        ("checksum", checksum),
        ("signature", if file.signed { "yes" } else { "no" }.to_owned()),
    ]
}

fn imports(imports: &[Import]) -> Table {
    let row = |import: &Import| Row {
        tone: Tone::Plain,
        cells: vec![
            import.library.as_str().into(),
            import.by_name.to_string().into(),
            import.by_ordinal.to_string().into(),
            match import.binding.as_str() {
                "no" => Cell::Empty,
                "new" => "bound".into(),
                _ => "bound, the old kind".into(),
            },
        ],
    };
    Table {
        caption: "imports".to_owned(),
        columns: vec![
            Column::always("library"),
            Column::always("by name"),
            Column::always("by ordinal"),
            Column::ranked(1, "bound"),
        ],
        rows: imports.iter().take(LISTED).map(row).collect(),
    }
}

fn delayed(report: &mut Report, delayed: &[Delayed]) {
    if delayed.is_empty() {
        return;
    }
    report.items.push(Item::Table(Table {
        caption: "loaded when a function is first called".to_owned(),
        columns: vec![Column::always("library"), Column::always("functions")],
        rows: delayed
            .iter()
            .take(LISTED)
            .map(|delayed| Row {
                tone: Tone::Plain,
                cells: vec![
                    delayed.library.as_str().into(),
                    delayed.functions.to_string().into(),
                ],
            })
            .collect(),
    }));
}

fn bound(report: &mut Report, bound: &[Bound]) {
    if bound.is_empty() {
        return;
    }
    report.items.push(Item::Table(Table {
        caption: "bound to".to_owned(),
        columns: vec![
            Column::always("library"),
            Column::always("of stamp"),
            Column::ranked(1, "and through it"),
        ],
        rows: bound
            .iter()
            .take(LISTED)
            .map(|bound| {
                let through: Vec<_> = bound.forwarders.iter().map(|to| to.library.as_str()).collect();
                let stamp = match bound.stamp {
                    0 => "not bound".to_owned(),
                    stamp => stamp.to_string(),
                };
                Row {
                    tone: Tone::Plain,
                    cells: vec![
                        bound.library.as_str().into(),
                        stamp.into(),
                        through.join(" ").into(),
                    ],
                }
            })
            .collect(),
    }));
}

fn remarks(report: &mut Report, file: &File) {
    if !file.file_alignment_bytes.is_multiple_of(PAGE) {
        report.note(format!(
            "Sections are aligned to {} bytes in the file: Wine cannot map them and copies each into memory of its own, so processes share nothing of it. Linked with an alignment of {PAGE} it would be mapped.",
            file.file_alignment_bytes
        ));
    }
    if file.dynamic_base {
        report.note(
            "With DYNAMIC_BASE today's Windows moves the file whatever it prefers, once at its first load after a start of the system; rebasing and binding help only when that flag is cleared.",
        );
    }
    if file.signed {
        report.note("It is signed: rebasing or binding it would break the signature.");
    }
}

//! The report of an ELF file: what it asks of the loader, and with its libraries, what the loader does for it.

mod closure;

use record::format::inspect::Document;
use record::format::inspect::elf::{File, Heap, Inspection, Relocations};

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::quantity;

/// The report of a document whose `elf` is not null; an empty one otherwise.
#[must_use]
pub fn report(document: &Document) -> Report {
    let mut report = Report::new(format!("Inspected {}", document.file));
    let Some(inspection) = &document.elf else {
        return report;
    };
    report.sentence(Tone::Plain, what(&document.file, &inspection.file));
    match inspection {
        Inspection { heap: Some(heap), .. } => of_heap(&mut report, heap),
        Inspection {
            closure: Some(found), ..
        } => closure::of(&mut report, found),
        Inspection { file, .. } => alone(&mut report, file),
    }
    report
}

/// What the file is, in a sentence.
fn what(name: &str, file: &File) -> String {
    let kind = match file.kind.as_str() {
        "program" => "a program at fixed addresses, with libraries",
        "pie" => "a program that is loaded anywhere, with libraries (PIE)",
        "static" => "a program at fixed addresses, without libraries",
        "static_pie" => "a program without libraries that relocates itself (static-pie)",
        _ => "a shared library",
    };
    format!("{name} is {kind}, for {}.", file.machine)
}

fn of_heap(report: &mut Report, heap: &Heap) {
    let name = match heap.heap.as_str() {
        "libc" => "the C library's heap".to_owned(),
        "own" => "a heap of its own".to_owned(),
        "go" => "the heap of Go's runtime".to_owned(),
        "unknown" => "a heap that is not known".to_owned(),
        other => format!("the heap {other}"),
    };
    report.sentence(Tone::Plain, format!("It gets {name}. {}", heap.reason));
    match &heap.obstacle {
        None => report.sentence(
            Tone::Good,
            "It can be given another heap by preloading: underhood exec --heap NAME -- COMMAND.",
        ),
        Some(obstacle) => {
            report.sentence(Tone::Bad, format!("It cannot be given another heap. {obstacle}"));
        }
    }
}

fn alone(report: &mut Report, file: &File) {
    report.items.push(Item::Table(pairs("", facts(file))));
    let relocations = &file.relocations;
    let rows = kinds(relocations);
    if rows.is_empty() {
        report.note("It has no relocations.");
        return;
    }
    report.items.push(Item::Table(pairs("relocations", rows)));
    report.note(format!(
        "They write to {} of 4 KiB; {} of these only or also for relative ones.",
        count(relocations.pages, "page", "pages"),
        relocations.relative_pages
    ));
}

fn facts(file: &File) -> Vec<(&'static str, String)> {
    let optional = |value: &Option<String>| value.clone().unwrap_or_default();
    let yes = |value: bool, text: &str| if value { text.to_owned() } else { String::new() };
    let binding = if file.bind_now {
        "all at start"
    } else {
        "functions at the first call"
    };
    let symbols = format!(
        "{}: {} offered ({} of them choose their code at load time), {} asked for",
        file.dynamic_symbols, file.exports, file.ifuncs, file.imports
    );
    let flags = [
        yes(file.symbolic, "its own symbols first (SYMBOLIC)"),
        yes(file.nodelete, "never unloaded (NODELETE)"),
        yes(
            file.static_tls,
            "needs a place near the thread pointer (STATIC_TLS)",
        ),
        yes(
            file.textrel,
            "its code is written to (TEXTREL), so no process shares it",
        ),
    ];
    let tls = file
        .tls_bytes
        .map(|bytes| format!("{bytes} bytes"))
        .unwrap_or_default();
    let models = file.tls_models.join(", ").replace('_', "-");
    [
        (
            "size",
            quantity::text(file.size_bytes as f64, record::model::Unit::Bytes),
        ),
        ("interpreter", optional(&file.interpreter)),
        ("own name", optional(&file.soname)),
        ("needs", file.needed.join(" ")),
        ("RPATH", optional(&file.rpath)),
        ("RUNPATH", optional(&file.runpath)),
        ("stands for", file.filters.join(" ")),
        ("binding", binding.to_owned()),
        (
            "flags",
            flags
                .into_iter()
                .filter(|flag| !flag.is_empty())
                .collect::<Vec<_>>()
                .join("; "),
        ),
        ("hash tables", file.hash_style.clone()),
        ("dynamic symbols", symbols),
        ("preferred base", file.base.clone()),
        (
            "thread-local",
            [tls, models]
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("build id", optional(&file.build_id)),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .collect()
}

fn kinds(relocations: &Relocations) -> Vec<(&'static str, String)> {
    [
        ("relative", relocations.relative),
        ("relative, packed (RELR)", relocations.packed),
        ("entries of the packed table", relocations.packed_words),
        ("functions (JUMP_SLOT)", relocations.jump_slot),
        ("addresses (GLOB_DAT)", relocations.glob_dat),
        ("addresses in data (64)", relocations.absolute),
        ("copies of variables (COPY)", relocations.copy),
        ("chosen at load time (IRELATIVE)", relocations.irelative),
        ("thread-local, module (DTPMOD)", relocations.tls_module),
        ("thread-local, offset (DTPOFF)", relocations.tls_offset),
        ("thread-local, static (TPOFF)", relocations.tls_static),
        ("thread-local, descriptor (TLSDESC)", relocations.tls_descriptor),
        ("others", relocations.other),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| (name, quantity::whole(count)))
    .collect()
}

/// A table of names and values.
fn pairs(caption: &str, rows: Vec<(&'static str, String)>) -> Table {
    Table {
        caption: caption.to_owned(),
        columns: vec![Column::always("what"), Column::always("value")],
        rows: rows
            .into_iter()
            .map(|(name, value)| Row {
                tone: Tone::Plain,
                cells: vec![Cell::from(name), Cell::from(value)],
            })
            .collect(),
    }
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        quantity::whole(number),
        if number == 1 { one } else { many }
    )
}

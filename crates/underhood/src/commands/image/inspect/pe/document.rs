//! From what the reader found to the document.

use image::pe::exports::Target;
use image::pe::fixups::Type;
use image::pe::imports::{self, BOUND};
use image::pe::{File, PAGE, Unreadable, checksum};
use record::format::Ordered;
use record::format::inspect::pe::{Bound, Delayed, File as Facts, Forwarder, Import, Inspection, Symbol};

/// The file alone.
pub fn of(file: &File<'_>) -> Result<Inspection, Unreadable> {
    let imports = file.imports()?.iter().map(import).collect();
    let delayed = file
        .delayed()?
        .iter()
        .map(|delayed| Delayed {
            library: text(delayed.library),
            functions: delayed.symbols.len() as u64,
        })
        .collect();
    let bound = file
        .bound()?
        .iter()
        .map(|bound| Bound {
            library: text(bound.reference.library),
            stamp: bound.reference.stamp,
            forwarders: bound
                .forwarders
                .iter()
                .map(|to| Forwarder {
                    library: text(to.library),
                    stamp: to.stamp,
                })
                .collect(),
        })
        .collect();
    Ok(Inspection {
        file: facts(file)?,
        imports,
        delayed,
        bound,
        closure: None,
        heap: None,
    })
}

fn facts(file: &File<'_>) -> Result<Facts, Unreadable> {
    let headers = &file.headers;
    let exports = file.exports()?.exports;
    let count = |wanted: &dyn Fn(&image::pe::exports::Export<'_>) -> bool| {
        exports.iter().filter(|export| wanted(export)).count() as u64
    };
    let mut by_type: Vec<(Type, u64)> = Vec::new();
    let mut pages = Vec::new();
    for fixup in file.fixups()?.iter().flat_map(|page| &page.fixups) {
        match by_type.iter_mut().find(|(kind, _)| *kind == fixup.kind) {
            Some((_, count)) => *count += 1,
            None => by_type.push((fixup.kind, 1)),
        }
        let last = fixup.rva.saturating_add(fixup.kind.width().saturating_sub(1));
        pages.extend([fixup.rva / PAGE, last / PAGE]);
    }
    pages.sort_unstable();
    pages.dedup();
    by_type.sort_unstable();
    let (major, minor) = headers.linker;
    Ok(Facts {
        machine: machine(headers.machine),
        kind: if headers.is_library() {
            "library"
        } else {
            "program"
        }
        .to_owned(),
        subsystem: match headers.subsystem {
            1 => "native".to_owned(),
            2 => "gui".to_owned(),
            3 => "console".to_owned(),
            other => other.to_string(),
        },
        size_bytes: file.bytes.len() as u64,
        base: format!("{:#x}", headers.base),
        image_bytes: headers.size_of_image.into(),
        section_alignment_bytes: headers.section_alignment.into(),
        file_alignment_bytes: headers.file_alignment.into(),
        dynamic_base: headers.has_dynamic_base(),
        high_entropy: headers.has_high_entropy(),
        relocations_stripped: headers.is_fixed(),
        stamp: headers.stamp,
        linker: format!("{major}.{minor}"),
        checksum: format!("{:#x}", headers.checksum),
        checksum_computed: format!("{:#x}", checksum::of(file.bytes, headers.places.checksum())),
        signed: headers.signature().is_some(),
        exported_names: count(&|export| export.name.is_some()),
        exported_numbers_only: count(&|export| export.name.is_none()),
        forwarders: count(&|export| matches!(export.target, Target::Forwarder(_))),
        fixups: Ordered(
            by_type
                .into_iter()
                .map(|(kind, count)| match kind {
                    Type::Other(number) => (format!("type {number}"), count),
                    kind => (kind.name().to_owned(), count),
                })
                .collect(),
        ),
        fixup_pages: pages.len() as u64,
        tls_callbacks: file.tls()?.map(|tls| tls.callbacks.into()),
    })
}

fn machine(number: u16) -> String {
    match number {
        0x8664 => "x86_64".to_owned(),
        0x14c => "x86".to_owned(),
        0xaa64 => "aarch64".to_owned(),
        other => format!("{other:#x}"),
    }
}

fn import(import: &imports::Import<'_>) -> Import {
    let symbols: Vec<_> = import.symbols.iter().map(symbol).collect();
    let by_name = symbols.iter().filter(|symbol| symbol.name.is_some()).count() as u64;
    Import {
        library: text(import.library),
        by_name,
        by_ordinal: symbols.len() as u64 - by_name,
        binding: match import.descriptor.stamp {
            0 => "no",
            BOUND => "new",
            _ => "old",
        }
        .to_owned(),
        symbols,
    }
}

fn symbol(symbol: &imports::Symbol<'_>) -> Symbol {
    match symbol {
        imports::Symbol::Name { hint, name } => Symbol {
            name: Some(text(name)),
            hint: Some(*hint),
            ordinal: None,
        },
        imports::Symbol::Ordinal(ordinal) => Symbol {
            name: None,
            hint: None,
            ordinal: Some(*ordinal),
        },
    }
}

/// A name as text; what is not UTF-8 is replaced.
pub(super) fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

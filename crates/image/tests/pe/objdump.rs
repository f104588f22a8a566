//! Every PE file of the machine, read by us and by objdump.
//!
//! Compared are header fields, imports (library, name, hint, number), exports (number, address, forwarder, name), and base
//! relocations by page and type. objdump does not decode delayed imports and bound imports; `tables.rs` has those.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use image::pe::exports::Target;
use image::pe::imports::Symbol;
use image::pe::{File, Unreadable};

use crate::system::pe_files;

const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";

/// A name with its hint, or only a number.
type Import = (Option<String>, u64);

/// What both must agree on.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    header: BTreeMap<&'static str, u64>,
    imports: Vec<(String, Vec<Import>)>,
    exports: BTreeMap<u64, String>,
    names: Vec<String>,
    /// By page, in order: entries as stated, and by type.
    fixups: Vec<(u64, u64, BTreeMap<String, u64>)>,
}

const FIELDS: &[&str] = &[
    "ImageBase",
    "SectionAlignment",
    "FileAlignment",
    "SizeOfImage",
    "SizeOfHeaders",
    "CheckSum",
    "DllCharacteristics",
    "AddressOfEntryPoint",
];

fn ours(file: &File<'_>) -> Result<Found, Unreadable> {
    let headers = &file.headers;
    let values = [
        headers.base,
        headers.section_alignment.into(),
        headers.file_alignment.into(),
        headers.size_of_image.into(),
        headers.size_of_headers.into(),
        headers.checksum.into(),
        headers.dll_characteristics.into(),
        headers.entry.into(),
    ];
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let exports = file.exports()?.exports;
    let target = |target: &Target<'_>| match target {
        Target::Address(rva) => format!("{rva:x}"),
        Target::Forwarder(to) => format!("-> {}", text(to)),
    };
    Ok(Found {
        header: FIELDS.iter().copied().zip(values).collect(),
        imports: file
            .imports()?
            .iter()
            .map(|import| {
                let symbols = import.symbols.iter().map(|symbol| match symbol {
                    Symbol::Name { hint, name } => (Some(text(name)), u64::from(*hint)),
                    Symbol::Ordinal(ordinal) => (None, u64::from(*ordinal)),
                });
                (text(import.library), symbols.collect())
            })
            .collect(),
        exports: exports
            .iter()
            .map(|export| (export.ordinal.into(), target(&export.target)))
            .collect(),
        names: exports
            .iter()
            .filter_map(|export| export.name.map(text))
            .collect(),
        fixups: file
            .fixups()?
            .iter()
            .map(|page| {
                let mut types = BTreeMap::new();
                for fixup in &page.fixups {
                    *types.entry(fixup.kind.name().to_owned()).or_default() += 1;
                }
                (page.rva.into(), page.entries as u64, types)
            })
            .collect(),
    })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim(), 16).ok()
}

/// Reads what `objdump -p` prints. Lines that are not understood are of other tables.
fn theirs(said: &str) -> Found {
    let mut found = Found::default();
    let mut in_names = false;
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("\tDLL Name: ") {
            found.imports.push((name.to_owned(), Vec::new()));
        } else if line.starts_with("[Ordinal/Name Pointer]") {
            in_names = true;
        } else if line.is_empty() {
            in_names = false;
        } else if let Some(rest) = line.strip_prefix("Virtual Address: ") {
            let words: Vec<_> = rest.split(' ').collect();
            let page = words.first().copied().and_then(hexadecimal).unwrap();
            let entries = words.last().unwrap().parse().unwrap();
            found.fixups.push((page, entries, BTreeMap::new()));
        } else if line.starts_with("\treloc ") {
            let kind = line.rsplit(' ').find(|word| !word.is_empty()).unwrap();
            if kind != "ABSOLUTE" {
                let types = &mut found.fixups.last_mut().unwrap().2;
                *types.entry(kind.to_owned()).or_default() += 1;
            }
        } else if let Some((_, rest)) = line.split_once("] +base[") {
            let (ordinal, rest) = rest.split_once("] ").unwrap();
            let rva = rest.split(' ').next().unwrap();
            let target = match rest.split_once("Forwarder RVA -- ") {
                Some((_, to)) => format!("-> {to}"),
                None => rva.trim_start_matches('0').to_owned(),
            };
            found.exports.insert(ordinal.trim().parse().unwrap(), target);
        } else if in_names && line.starts_with("\t[") {
            let (_, name) = line.split_once("] ").unwrap();
            found.names.push(name.to_owned());
        } else if let Some(import) = import(line) {
            if let Some((_, symbols)) = found.imports.last_mut() {
                symbols.push(import);
            }
        } else if let Some(field) = FIELDS.iter().find(|field| line.starts_with(**field)) {
            let value = line.split_whitespace().nth(1).and_then(hexadecimal);
            found.header.entry(field).or_insert(value.unwrap());
        }
    }
    found
}

/// `\tADDRESS\tHINT  NAME`, or `\tENTRY\tNUMBER  <none>`; hints are decimal, numbers are not.
fn import(line: &str) -> Option<Import> {
    let mut columns = line.strip_prefix('\t')?.split('\t');
    hexadecimal(columns.next()?)?;
    let (number, name) = columns.next()?.trim_start().split_once("  ")?;
    if name == "<none>" {
        Some((None, hexadecimal(number)?))
    } else {
        Some((Some(name.to_owned()), number.parse().ok()?))
    }
}

fn dumped(path: &Path) -> Option<String> {
    let output = Command::new(OBJDUMP).arg("-p").arg(path).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn every_pe_file_of_the_machine_is_what_objdump_says() {
    let files = pe_files();
    if files.is_empty() || Command::new(OBJDUMP).arg("--version").output().is_err() {
        println!(
            "SKIPPED: needs PE files and objdump; on Debian: apt-get install wine binutils-mingw-w64-x86-64"
        );
        return;
    }
    let mut wrong = Vec::new();
    let mut seen = [0; 4];
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let shown = path.display();
        let Ok(file) = File::read(&bytes) else { continue };
        let ours = ours(&file).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let said = dumped(&path).unwrap();
        if !said.contains("file format pei-") {
            println!("SKIPPED: {shown}: objdump does not know its kind");
            continue;
        }
        let theirs = theirs(&said);
        let imports = theirs.imports.iter().map(|(_, symbols)| symbols.len()).sum();
        let fixups = theirs
            .fixups
            .iter()
            .map(|(_, entries, _)| *entries as usize)
            .sum();
        for (sum, count) in seen.iter_mut().zip([1, imports, theirs.exports.len(), fixups]) {
            *sum += count;
        }
        if ours != theirs {
            let parts = [
                ("header", ours.header != theirs.header),
                ("imports", ours.imports != theirs.imports),
                ("exports", ours.exports != theirs.exports),
                ("names", ours.names != theirs.names),
                ("fixups", ours.fixups != theirs.fixups),
            ];
            let parts: Vec<_> = parts
                .iter()
                .filter(|(_, differ)| *differ)
                .map(|(part, _)| *part)
                .collect();
            wrong.push(format!("{shown}: {}", parts.join(", ")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} files differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

//! Every ELF file of the system is understood, and counted as binutils count it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use image::elf::facts::Facts;
use image::elf::lookup::Linker;
use image::elf::{Image, Machine, Unreadable};

use crate::loader;

/// Files below a folder, without following links.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// Whether a file begins as an ELF file does.
pub fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"\x7fELF"
}

/// The content of such a file.
fn elf(path: &Path) -> Option<Vec<u8>> {
    is_elf(path).then(|| std::fs::read(path).ok())?
}

pub fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["/usr/bin", "/usr/lib"] {
        files(Path::new(folder), &mut found);
    }
    found.sort();
    found
}

#[test]
fn every_file_of_the_system_is_read() {
    let paths = all();
    let next = AtomicUsize::new(0);
    let read = AtomicUsize::new(0);
    let others = AtomicUsize::new(0);
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(bytes) = elf(path) else { continue };
            match Image::parse(&bytes).and_then(|image| Facts::of(&image)) {
                Ok(_) => read.fetch_add(1, Ordering::Relaxed),
                Err(Unreadable::Bits32 | Unreadable::Machine(_) | Unreadable::NotLoadable) => {
                    others.fetch_add(1, Ordering::Relaxed)
                }
                Err(error) => panic!("{}: {error}", path.display()),
            };
        }
    };
    let start = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let read = read.into_inner();
    println!(
        "{read} files read, {} of other kinds, in {:?}",
        others.into_inner(),
        start.elapsed()
    );
    assert!(read > 1000, "{read}");
}

/// What readelf counts, by type; packed relocations as `packed`.
fn counted_by_readelf(path: &Path) -> BTreeMap<String, u64> {
    let output = Command::new("readelf")
        .args(["-rW", "-D"])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (first, second, third) = (words.next(), words.next(), words.next());
        match (first, second, third) {
            (Some(_), Some(_), Some(kind)) if kind.starts_with("R_X86_64_") => {
                *counts.entry(kind.to_owned()).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    counts
}

#[test]
fn relocations_are_those_that_readelf_counts() {
    let mut libraries: Vec<PathBuf> = Vec::new();
    files(Path::new("/usr/lib/x86_64-linux-gnu"), &mut libraries);
    libraries.retain(|path| path.to_string_lossy().contains(".so") && elf(path).is_some());
    libraries.sort();
    // Spread over the alphabet.
    let step = libraries.len() / 50;
    let sample: Vec<_> = libraries.iter().step_by(step.max(1)).take(60).collect();
    assert!(sample.len() >= 50, "{}", sample.len());
    let mut total = 0;
    for path in sample {
        let bytes = elf(path).unwrap();
        let Ok(image) = Image::parse(&bytes) else { continue };
        if image.machine() != Machine::X86_64 {
            continue;
        }
        let counts = Facts::of(&image).unwrap().relocations;
        let expected = counted_by_readelf(path);
        let said = |kind: &str| expected.get(kind).copied().unwrap_or(0);
        for (kind, count) in [
            ("R_X86_64_RELATIVE", counts.relative),
            ("R_X86_64_GLOB_DAT", counts.glob_dat),
            ("R_X86_64_JUMP_SLOT", counts.jump_slot),
            ("R_X86_64_64", counts.absolute),
            ("R_X86_64_COPY", counts.copy),
            ("R_X86_64_IRELATIVE", counts.irelative),
            ("R_X86_64_DTPMOD64", counts.tls_module),
            ("R_X86_64_DTPOFF64", counts.tls_offset),
            ("R_X86_64_TPOFF64", counts.tls_static),
            ("R_X86_64_TLSDESC", counts.tls_descriptor),
        ] {
            assert_eq!(count, said(kind), "{}: {kind}", path.display());
        }
        total += counts.total();
    }
    println!("{total} relocations compared");
    assert!(total > 1000);
}

/// What else readelf says of a file, by its dynamic table: names, and symbols.
#[test]
fn names_and_symbols_are_those_that_readelf_prints() {
    let libc = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    let bytes = std::fs::read(libc).unwrap();
    let facts = Facts::of(&Image::parse(&bytes).unwrap()).unwrap();
    let said = |options: &[&str]| {
        let output = Command::new("readelf").args(options).arg(libc).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(facts.soname.as_deref(), Some("libc.so.6"));
    assert!(facts.interpreter.is_some());
    let symbols = said(&["-W", "--dyn-syms"]);
    assert!(
        symbols.contains(&format!("contains {} entries", facts.symbols)),
        "{}",
        facts.symbols
    );
    let ifuncs = symbols
        .lines()
        .filter(|line| line.contains(" IFUNC ") && !line.contains(" UND ") && !line.contains(" LOCAL "))
        .count();
    assert_eq!(facts.ifuncs, ifuncs as u64);
    let id = facts.build_id.unwrap();
    assert!(said(&["-n"]).contains(&id), "{id}");
    // The packed table of libc: readelf says how many places it stands for.
    let packed = said(&["-rW"]);
    let places = packed
        .lines()
        .find_map(|line| line.trim().strip_suffix(" offsets")?.parse::<u64>().ok());
    assert_eq!(facts.relocations.packed, places.unwrap_or(0));
}

/// Real files with bytes changed and cut off. Whatever comes out, it comes soon and without panic.
#[test]
fn damaged_files_are_read_or_refused() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut read, mut refused) = (0, 0);
    for path in [
        "/bin/true",
        "/usr/bin/perl",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib64/ld-linux-x86-64.so.2",
    ] {
        let Ok(sound) = std::fs::read(path) else { continue };
        let tables = interesting(&sound);
        let rounds = if sound.len() < 200_000 { 600 } else { 60 };
        for round in 0..rounds {
            let mut bytes = sound.clone();
            for _ in 0..random.usize(1..6) {
                damage(&mut bytes, &tables, &mut random);
            }
            if round % 5 == 0 {
                bytes.truncate(random.usize(..bytes.len()));
            }
            match everything(bytes) {
                Ok(()) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    println!("{read} read, {refused} refused");
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

/// Changes a byte, mostly where a change means much: in headers, and in tables that they point to.
pub fn damage(bytes: &mut [u8], tables: &[std::ops::Range<usize>], random: &mut fastrand::Rng) {
    let at = match random.usize(..4) {
        0 => random.usize(..1024.min(bytes.len())),
        1 => random.usize(..bytes.len()),
        _ => {
            let range = tables[random.usize(..tables.len())].clone();
            random.usize(range)
        }
    };
    bytes[at] = [0, 1, 0x7f, 0x80, 0xff, random.u8(..)][random.usize(..6)];
}

/// Where the first kilobytes, the dynamic table and the tables of symbols and hashes lie in a file, roughly: the beginning, and
/// the end of its last quarter.
pub fn interesting(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let quarter = bytes.len() / 4;
    let dynamic = bytes
        .windows(16)
        .position(|window| window[..8] == 1_u64.to_le_bytes() && window[15] == 0 && window[8] != 0)
        .unwrap_or(0);
    vec![
        64..2048.min(bytes.len()),
        0..quarter.max(1),
        dynamic..(dynamic + 512).min(bytes.len()),
        quarter * 3..bytes.len(),
    ]
}

/// Everything that is ever done with a file.
fn everything(bytes: Vec<u8>) -> Result<(), Unreadable> {
    let image = Image::parse(&bytes)?;
    Facts::of(&image)?;
    let closure = loader::load_bytes(bytes)?;
    Linker::new(&closure)?.resolve(&mut |_| {})
}

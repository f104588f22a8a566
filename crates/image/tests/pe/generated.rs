//! The article's set, built by mingw, through all cells of its table: default, based, based and bound; by name and by ordinal.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use image::generate::{Format, Import, Set, recipe, sources};
use image::pe::exports::{Export, Target};
use image::pe::loader::check::check;
use image::pe::loader::{Counts, Options, Plan, Times};
use image::pe::{File, bind, rebase};

use crate::hostile;
use crate::sample::borrowed;

pub type Files = Vec<(&'static str, Vec<u8>)>;

/// The program and the libraries of the article's set.
const NAMES: [&str; 11] = [
    "app.exe",
    "lib1.dll",
    "lib2.dll",
    "lib3.dll",
    "lib4.dll",
    "lib5.dll",
    "lib6.dll",
    "lib7.dll",
    "lib8.dll",
    "lib9.dll",
    "lib10.dll",
];

/// Builds a set in a folder; false, and said so, when there is no compiler for it.
pub fn build(set: &Set, folder: &Path) -> bool {
    for source in sources::of(set) {
        std::fs::write(folder.join(&source.name), &source.text).unwrap();
    }
    for step in recipe::of(set) {
        let output = Command::new(&step.program)
            .args(&step.args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output();
        let Ok(output) = output else {
            println!(
                "SKIPPED: {} is missing; on Debian: apt-get install gcc-mingw-w64-x86-64",
                step.program
            );
            return false;
        };
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    true
}

pub fn article(import: Import, distinct_bases: bool) -> Set {
    Set {
        format: Format::Pe,
        import,
        distinct_bases,
        ..Set::default()
    }
}

pub fn built(import: Import, distinct_bases: bool) -> Option<Files> {
    let folder = tempfile::tempdir().unwrap();
    build(&article(import, distinct_bases), folder.path()).then(|| {
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        NAMES.iter().map(|name| (*name, read(name))).collect()
    })
}

/// Rebases the libraries around the program, which stays where it is.
pub fn based(files: &Files) -> Files {
    let program = File::read(&files[0].1).unwrap().headers.preferred();
    let options = rebase::Options {
        exclude: vec![program],
        clear_dynamic_base: true,
        stamp: Some(1_000_000_000),
        ..rebase::Options::default()
    };
    let rebased = rebase::rebase(borrowed(&files[1..]), &options).unwrap();
    let rest = files[1..].iter().zip(rebased);
    std::iter::once(files[0].clone())
        .chain(rest.map(|((name, _), file)| (*name, file.bytes)))
        .collect()
}

pub fn bound(files: &Files) -> Files {
    let bound = bind::bind(borrowed(files), bind::Options::default()).unwrap();
    files
        .iter()
        .zip(bound)
        .map(|((name, _), file)| (*name, file.bytes))
        .collect()
}

fn measured(files: &Files) -> (Counts, Times) {
    let plan = Plan::new(borrowed(files), "app.exe", Options::default()).unwrap();
    let samples = plan.repeat(30, Duration::from_secs(20)).unwrap();
    let checked = check(&plan, &samples.loaded).unwrap();
    assert_eq!(checked.differences, Vec::<String>::new());
    (samples.loaded.counts, samples.fastest())
}

#[test]
fn the_six_cells_of_the_articles_table() {
    for import in [Import::Name, Import::Ordinal] {
        let Some(default) = built(import, false) else {
            return;
        };
        let based = based(&default);
        let bound = bound(&based);
        let by_name = import == Import::Name;
        let looked_up = if by_name { (1000, 0) } else { (0, 1000) };
        for (cell, files, moved, fixups, looked_up, held) in [
            ("default", &default, 9, 4500, looked_up, 0),
            ("based", &based, 0, 0, looked_up, 0),
            ("based+bound", &bound, 0, 0, (0, 0), 10),
        ] {
            let (counts, times) = measured(files);
            println!("{import:?} {cell}: {times:?} {counts:?}");
            assert_eq!(counts.modules, 11, "{cell}");
            assert_eq!((counts.moved, counts.fixups), (moved, fixups), "{cell}");
            assert_eq!((counts.names, counts.ordinals), looked_up, "{cell}");
            assert_eq!((counts.bound, counts.stale), (held, 0), "{cell}");
            // The C library and the system, which no set binds to.
            let of_set = if held == 0 { 1000 } else { 0 };
            assert_eq!(counts.written - counts.system, of_set, "{cell}");
        }
    }
}

/// objdump shows beside each import the address that it is bound to.
#[test]
fn objdump_sees_what_the_program_was_bound_to() {
    const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";
    let Some(files) = built(Import::Name, false) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.exe");
    let files = bound(&based(&files));
    std::fs::write(&path, &files[0].1).unwrap();
    let said = Command::new(OBJDUMP).arg("-p").arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let places: HashMap<_, _> = files[1..]
        .iter()
        .flat_map(|(_, bytes)| {
            let file = File::read(bytes).unwrap();
            let base = file.headers.base;
            let exports = file.exports().unwrap().exports;
            let place = |export: &Export<'_>| match export.target {
                Target::Address(rva) => base + u64::from(rva),
                Target::Forwarder(_) => 0,
            };
            let named = |export: &Export<'_>| {
                let name = String::from_utf8(export.name.unwrap().to_vec()).unwrap();
                (name, place(export))
            };
            exports.iter().map(named).collect::<Vec<_>>()
        })
        .collect();
    let mut seen = 0;
    for line in said.lines().filter(|line| line.contains("_func_")) {
        let words: Vec<_> = line.split_whitespace().collect();
        let address = u64::from_str_radix(words[3], 16).unwrap();
        // objdump prints the lower half only.
        assert_eq!(address, places[words[2]] & 0xffff_ffff, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 1000);
}

#[test]
fn libraries_with_places_of_their_own_are_not_moved() {
    let Some(files) = built(Import::Name, true) else {
        return;
    };
    let (counts, _) = measured(&files);
    assert_eq!((counts.moved, counts.fixups, counts.names), (0, 0, 1000));
}

#[test]
fn libraries_that_call_each_other_are_bound_to_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let set = Set {
        libraries: 3,
        functions: 20,
        cross: 20,
        ..article(Import::Name, false)
    };
    if !build(&set, folder.path()) {
        return;
    }
    let files: Files = NAMES[..4]
        .iter()
        .map(|name| (*name, std::fs::read(folder.path().join(name)).unwrap()))
        .collect();
    let (plain, _) = measured(&based(&files));
    assert_eq!((plain.names, plain.bound), (60 + 40, 0));
    let (ready, _) = measured(&bound(&based(&files)));
    // The program to three libraries, and two of these to the one before.
    assert_eq!((ready.names, ready.bound), (0, 5));
}

#[test]
fn damaged_files_of_a_real_linker_are_read_loaded_and_written_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = Set {
        libraries: 2,
        functions: 3,
        globals: 2,
        cross: 2,
        ..article(Import::Name, false)
    };
    if !build(&set, folder.path()) {
        return;
    }
    let sound: Files = NAMES[..3]
        .iter()
        .map(|name| (*name, std::fs::read(folder.path().join(name)).unwrap()))
        .collect();
    let mut random = fastrand::Rng::with_seed(23);
    let (mut good, mut bad) = (0, 0);
    for round in 0..300 {
        let mut files = if round % 2 == 0 {
            sound.clone()
        } else {
            based(&sound)
        };
        let which = random.usize(..files.len());
        hostile::damage(&mut files[which].1, &mut random, round);
        let (done, broken) = hostile::all(&files);
        assert_eq!(broken, 0, "round {round}");
        let done = done.iter().all(|&done| done);
        good += usize::from(done);
        bad += usize::from(!done);
    }
    assert!(good > 10 && bad > 10, "{good} {bad}");
}

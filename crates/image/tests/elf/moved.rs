//! The comparison of files, on copies that the linker itself made for other addresses.

use std::fs;
use std::path::Path;
use std::process::Command;

use image::elf::moving::{self, Move, Texts};
use image::elf::relocations::{self, Kind};
use image::elf::verify::{FileReport, Ignored, compare_files};
use image::elf::{Image, Unreadable};

const LIBRARY: &str = r#"
#include <stdio.h>
extern int elsewhere(int);
static int own = 3;
int shared = 4;
int *pointer = &own;
int *others[] = { &own, &shared, 0 };
const char *const names[] = { "one", "two", "three" };
_Thread_local int apart = 5;
int (*function)(int) = elsewhere;
static int one(int value) { return value + 1; }
static int (*choose(void))(int) { return one; }
int chosen(int) __attribute__((ifunc("choose")));
int call(int value)
{
    printf("%s\n", names[value]);
    return chosen(value) + elsewhere(value) + *pointer + apart + *others[value];
}
"#;

const MAIN: &str = r#"
#include <stdio.h>
extern char **environ;
static int own = 1;
int *pointer = &own;
int main(void) { return printf("%p %d\n", (void *)environ, *pointer) < 0; }
"#;

fn compile(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let (input, output) = (folder.join("source.c"), folder.join(name));
    fs::write(&input, source).unwrap();
    let status = Command::new("cc")
        .args(["-O1", "-Wl,--build-id=none", "-o"])
        .arg(&output)
        .arg(&input)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    fs::read(output).unwrap()
}

/// A file and the same at another address, both by the linker.
fn both(source: &str, flags: &[&str]) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    // Code at fixed addresses reaches no further than 2 GiB.
    let place = if flags.contains(&"-no-pie") {
        "0x12340000"
    } else {
        "0x123400000000"
    };
    [String::new(), format!("-Wl,-Ttext-segment={place}")]
        .each_ref()
        .map(|place| {
            let flags: Vec<_> = flags
                .iter()
                .copied()
                .chain(Some(place.as_str()))
                .filter(|flag| !flag.is_empty())
                .collect();
            compile(folder.path(), "file", source, &flags)
        })
}

/// Ways to link the same: each has other tables.
const WAYS: &[&[&str]] = &[
    &["-shared", "-fPIC"],
    &["-shared", "-fPIC", "-Wl,-z,now", "-s"],
    &["-shared", "-fPIC", "-Wl,-z,pack-relative-relocs"],
    &[
        "-shared",
        "-fPIC",
        "-Wl,--hash-style=both",
        "-Wl,-z,norelro",
        "-mtls-dialect=gnu2",
    ],
];

#[test]
fn what_the_linker_moved_is_the_same() {
    for flags in WAYS {
        let [original, moved] = both(LIBRARY, flags);
        let seen = compare_files(&original, &moved).unwrap();
        assert_eq!(seen.report.differences, [], "{flags:?}");
        assert_eq!(seen.shift, 0x1234_0000_0000);
        assert_eq!((seen.bound.len(), seen.added.len(), seen.applied), (0, 0, 0));
        let counts = relocations::count(&Image::parse(&original).unwrap()).unwrap();
        assert_eq!(seen.kept, counts.total());
        assert_eq!(seen.report.all_words(), counts.total());
        assert!(seen.report.bytes > 1000 && seen.report.fields > 300, "{seen:?}");
        assert_eq!(seen.ignored, []);
    }
}

#[test]
fn a_program_is_the_same_as_itself() {
    for flags in [&["-no-pie", "-Wl,--no-relax"][..], &["-pie", "-fPIE"]] {
        let [original, moved] = both(MAIN, flags);
        let (own, other) = (
            compare_files(&original, &original).unwrap(),
            compare_files(&original, &moved).unwrap(),
        );
        assert_eq!(own.report.differences, []);
        // The code of a program at fixed addresses contains them, and relocations do not tell where.
        assert_eq!(
            other.report.is_equal(),
            flags[0] == "-pie",
            "{:?}",
            other.report.differences
        );
    }
}

/// The copy of the file whose relative relocations are applied and taken out, by hand.
fn applied(original: &[u8], moved: &[u8]) -> Vec<u8> {
    let image = Image::parse(moved).unwrap();
    let mut copy = moved.to_vec();
    let all: Vec<_> = relocations::unpacked(&image).unwrap().collect();
    for relocation in all.iter().filter(|relocation| relocation.kind == Kind::Relative) {
        // Each entry stands in the file exactly once: place, kind 8 of x86-64, addend.
        let entry = [relocation.offset, 8, relocation.addend.cast_unsigned()]
            .map(u64::to_le_bytes)
            .concat();
        let at = moved.windows(24).position(|bytes| bytes == entry).unwrap();
        copy[at + 8..at + 16].fill(0);
        // Writable segments of this library are behind one distance from their place in the file.
        let slot = file_offset(moved, relocation.offset);
        copy[slot..slot + 8].copy_from_slice(&relocation.addend.to_le_bytes());
    }
    // No relocation is relative any more, so none may be counted: DT_RELACOUNT, 0x6ffffff9.
    let tag = 0x6fff_fff9_u64.to_le_bytes();
    let at = copy.windows(8).position(|bytes| bytes == tag).unwrap();
    copy[at + 8..at + 16].fill(0);
    assert_eq!(original.len(), copy.len());
    copy
}

fn file_offset(bytes: &[u8], address: u64) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (headers, count) = (word(32) as usize, usize::from(bytes[56]));
    let offset = (0..count).map(|index| headers + 56 * index).find_map(|at| {
        let (kind, offset, start, size) = (bytes[at], word(at + 8), word(at + 16), word(at + 32));
        (kind == 1 && (start..start + size).contains(&address)).then(|| offset + address - start)
    });
    usize::try_from(offset.unwrap()).unwrap()
}

#[test]
fn applied_relocations_are_checked_and_gone_ones_are_told() {
    let [original, moved] = both(LIBRARY, WAYS[0]);
    let copy = applied(&original, &moved);
    let seen = compare_files(&original, &copy).unwrap();
    assert_eq!(seen.report.differences, []);
    let counts = relocations::count(&Image::parse(&original).unwrap()).unwrap();
    assert_eq!(seen.applied, counts.relative);
    assert_eq!(seen.kept, counts.total() - counts.relative);
    // One of them applied wrongly.
    let image = Image::parse(&moved).unwrap();
    let mut wrong = copy.clone();
    let first = relocations::unpacked(&image).unwrap().next().unwrap();
    wrong[file_offset(&moved, first.offset)] ^= 8;
    assert_eq!(
        compare_files(&original, &wrong).unwrap().report.difference_count,
        1
    );
    // The symbolic one in data taken out.
    let absolute = relocations::unpacked(&image)
        .unwrap()
        .find(|relocation| relocation.kind == Kind::Absolute)
        .unwrap();
    let mut bound = copy;
    let slot = file_offset(&moved, absolute.offset);
    bound[slot..slot + 8].copy_from_slice(&0x5555_u64.to_le_bytes());
    let info = u64::from(absolute.symbol) << 32 | 1;
    let entry = [absolute.offset, info, absolute.addend.cast_unsigned()]
        .map(u64::to_le_bytes)
        .concat();
    let at = bound.windows(24).position(|bytes| bytes == entry).unwrap();
    bound[at + 8..at + 16].fill(0);
    let seen = compare_files(&original, &bound).unwrap();
    assert_eq!(seen.report.differences, []);
    assert_eq!(seen.bound.len(), 1);
    assert_eq!(
        (seen.bound[0].kind, seen.bound[0].symbol, seen.bound[0].value),
        (Kind::Absolute, absolute.symbol, Some(0x5555))
    );
}

/// Some libraries and programs of this machine, whatever it has.
fn of_this_machine() -> Vec<(String, Vec<u8>)> {
    let names = [
        "libc.so.6",
        "libm.so.6",
        "libstdc++.so.6",
        "libz.so.1",
        "libcrypto.so.3",
        "libselinux.so.1",
        "libgmp.so.10",
    ];
    let libraries = names.map(|name| format!("/lib/x86_64-linux-gnu/{name}"));
    let libraries = libraries
        .into_iter()
        .chain(names.map(|name| format!("/usr/lib/x86_64-linux-gnu/{name}")));
    let programs = ["ls", "bash", "find", "python3", "perl", "gcc", "git", "ld", "as"]
        .map(|name| format!("/usr/bin/{name}"));
    let files = libraries
        .chain(programs)
        .filter_map(|path| Some((path.clone(), fs::read(path).ok()?)));
    files.filter(|(_, bytes)| bytes.starts_with(b"\x7fELF")).collect()
}

#[test]
fn what_our_own_writer_moves_is_the_same() {
    let mut seen = 0;
    for (path, bytes) in of_this_machine() {
        let image = Image::parse(&bytes).unwrap();
        if moving::check(&image).is_err() {
            continue;
        }
        let texts = Texts {
            needed: Some(vec!["/somewhere/quite/else/libother.so.1".to_owned(); 3]),
            runpath: Some("/somewhere".to_owned()),
            interpreter: image.interpreter().map(|name| format!("/somewhere{name}")),
            ..Texts::default()
        };
        for (texts, fixed) in [(Texts::default(), false), (texts.clone(), false), (texts, true)] {
            let by = if image.is_fixed() { 0 } else { 0x1200_0000_0000 };
            let how = Move {
                by,
                texts,
                fixed,
                ..Move::default()
            };
            let Ok(moved) = moving::moved(&image, &how) else {
                continue;
            };
            let report = compare_files(&bytes, &moved.bytes).unwrap();
            assert_eq!(report.report.differences, [], "{path}");
            assert_eq!(
                (report.shift, report.applied, report.kept),
                (by, moved.relative, moved.kept),
                "{path}"
            );
            assert_eq!((report.bound.len() as u64, report.added.len()), (moved.bound, 0));
            seen += 1;
        }
    }
    assert!(seen >= 9, "{seen}");
}

/// Whether somebody who knows the sound copy's report would notice.
fn noticed(sound: &FileReport, seen: &Result<FileReport, Unreadable>) -> bool {
    seen.as_ref().map_or(true, |seen| {
        !seen.report.is_equal()
            || seen.bound != sound.bound
            || seen.added != sound.added
            || seen.report.skipped != sound.report.skipped
    })
}

#[test]
fn every_changed_byte_is_noticed() {
    std::thread::scope(|scope| {
        for flags in WAYS {
            scope.spawn(|| every_byte(flags));
        }
    });
}

fn every_byte(flags: &[&str]) {
    let [original, moved] = both(LIBRARY, flags);
    let copy = if flags.len() == 2 {
        applied(&original, &moved)
    } else {
        moved
    };
    let sound = compare_files(&original, &copy).unwrap();
    assert!(sound.report.is_equal());
    // The lowest bit gives another sound number, all bits mostly one that leads nowhere.
    let every: &[u8] = if flags.len() == 2 { &[1, 0xff] } else { &[1] };
    let mut unnoticed = Vec::new();
    let mut broken = copy;
    for at in 0..broken.len() {
        for &bits in every {
            broken[at] ^= bits;
            let ignored = |ignored: &Ignored| (ignored.start..ignored.end).contains(&(at as u64));
            let stated = sound.ignored.iter().any(ignored);
            if !stated && !noticed(&sound, &compare_files(&original, &broken)) {
                unnoticed.push((at, bits));
            }
            broken[at] ^= bits;
        }
    }
    println!("{flags:?}: {} bytes, unnoticed {unnoticed:x?}", broken.len());
    assert!(unnoticed.is_empty(), "{flags:?}: {unnoticed:x?}");
}

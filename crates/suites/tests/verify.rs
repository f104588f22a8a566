//! The comparison of two processes, on programs of this machine: started twice they are equal, under whatever addresses, and what is
//! changed is found.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "figures for who asks for them with --nocapture"
)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use image::elf::moving::{self, Move};
use image::elf::relocations::{self, Counts, Kind};
use image::elf::verify::{Memory, Object, Region, Report, Sides, Value, What, compare_loaded};
use image::elf::{Image, symbols::Symbols};
use os::process::{Spec, Standing};

struct Process(Standing);

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.0.read(address, into).is_ok()
    }
}

impl Process {
    fn start(mut spec: Spec) -> Self {
        spec.timeout = Some(Duration::from_secs(60));
        Self(Standing::start(spec).expect("this machine lets us trace"))
    }

    /// The files of its objects with what the loader added, in its order.
    fn objects(&self) -> Vec<(PathBuf, u64)> {
        let objects = self.0.objects().iter();
        let files = objects.filter_map(|object| Some((self.0.file_of(object)?.to_owned(), object.bias)));
        files.collect()
    }

    fn kernels(&self) -> (u64, u64) {
        let range = self
            .0
            .mappings()
            .iter()
            .find(|range| range.name == Path::new("[vdso]"));
        range.map_or((0, 0), |range| (range.start, range.end - range.start))
    }
}

/// Compares two processes whose objects are the same in the same order, and counts the relocations of the first.
fn compare(processes: &[Process; 2]) -> (Report, Counts) {
    let objects = processes.each_ref().map(Process::objects);
    assert_eq!(objects[0].len(), objects[1].len());
    let read = |path: &PathBuf| (path.clone(), fs::read(path).unwrap());
    let files: HashMap<_, _> = objects.iter().flatten().map(|(path, _)| read(path)).collect();
    let mut counts = Counts::default();
    let pairs: Vec<_> = objects[0]
        .iter()
        .zip(&objects[1])
        .map(|((first, bias), (second, other))| {
            let one = relocations::count(&Image::parse(&files[first]).unwrap()).unwrap();
            counts.packed += one.packed;
            counts.relative += one.relative;
            counts.glob_dat += one.glob_dat;
            counts.jump_slot += one.jump_slot;
            counts.absolute += one.absolute;
            counts.copy += one.copy;
            counts.irelative += one.irelative;
            counts.tls_module += one.tls_module;
            counts.tls_offset += one.tls_offset;
            counts.tls_static += one.tls_static;
            counts.tls_descriptor += one.tls_descriptor;
            Object {
                name: first.to_str().unwrap(),
                files: [&files[first], &files[second]],
                biases: [*bias, *other],
                is_loader: first.to_str().unwrap().contains("/ld-linux"),
            }
        })
        .collect();
    let kernels = processes.each_ref().map(Process::kernels);
    let vectors = processes.each_ref().map(|process| process.0.vectors());
    let sides = Sides {
        memories: [&processes[0], &processes[1]],
        objects: &pairs,
        regions: &[
            Region {
                name: "[vdso]",
                starts: [kernels[0].0, kernels[1].0],
                size: kernels[0].1,
            },
            Region {
                name: "[arguments]",
                starts: [vectors[0].start, vectors[1].start],
                size: vectors[0].end - vectors[0].start,
            },
        ],
    };
    (compare_loaded(&sides).unwrap(), counts)
}

#[test]
fn a_program_is_equal_to_itself_under_other_addresses() {
    let mut seen = 0;
    for name in [
        "python3", "bash", "perl", "git", "gcc", "find", "ls", "gdb", "ld", "node", "ssh", "curl",
    ] {
        let folder = ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .find(|folder| Path::new(folder).join(name).exists());
        let Some(folder) = folder else { continue };
        let program = Path::new(folder).join(name);
        if !fs::read(&program).unwrap().starts_with(b"\x7fELF") {
            continue;
        }
        let (report, counts) = compare(&[0, 1].map(|_| Process::start(Spec::new(&program))));
        println!(
            "{name}: {} words, {} bytes, {:?}",
            report.all_words(),
            report.bytes,
            report.skipped
        );
        assert_eq!(report.differences, [], "{name}");
        // Several may write to one place; no sound file has many such.
        assert!(
            report.all_words() + 10 >= counts.total() - counts.other && report.all_words() > 1000,
            "{counts:?}"
        );
        assert!(report.words["relative"] <= counts.all_relative() && report.words["jump_slot"] > 0);
        seen += 1;
    }
    assert!(
        seen >= 3,
        "the C compiler, a shell and find are on every machine that builds this"
    );
}

const LIBRARY: &str = r#"
int first(void) { return 1; }
int second(void) { return 2; }
int data[] = { 1, 2, 3 };
int (*chosen)(void) = first;
int (*other)(void) = second;
int call(void) { return first() + second() + data[0]; }
"#;

const MAIN: &str = "int call(void); int main(void) { return call(); }";

/// Thread-local variables by all models, an indirect function, and a pointer out of its object.
const RICH: &str = r#"
#include <errno.h>
#include <stdio.h>
_Thread_local int apart = 5;
static _Thread_local int hidden = 6;
static int numbers[] = { 1, 2, 3 };
int *before = numbers - 0x10000;
FILE **standard = &stdout;
char *behind = (char *)&stdout + 0x7000000;
static int one(int value) { return value + 1; }
static int (*choose(void))(int) { return one; }
int chosen(int) __attribute__((ifunc("choose")));
int (*indirect)(int) = chosen;
int call(void) { return fprintf(*standard, "%d", apart + hidden + errno + numbers[1]) + chosen(1); }
"#;

/// A program with a library of its own, and a second folder with a changed copy of that library.
struct Changed {
    folder: tempfile::TempDir,
}

impl Changed {
    fn new(change: impl FnOnce(&mut Vec<u8>)) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let cc = |arguments: &[&str], source: &str| {
            fs::write(folder.path().join("source.c"), source).unwrap();
            let status = Command::new("cc")
                .current_dir(folder.path())
                .args(["-O0", "source.c", "-o"])
                .args(arguments)
                .status();
            assert!(status.unwrap().success());
        };
        for name in ["sound", "changed"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        cc(
            &["sound/libtwo.so", "-shared", "-fPIC", "-Wl,-soname,libtwo.so"],
            LIBRARY,
        );
        cc(&["program", "-Lsound", "-ltwo"], MAIN);
        let mut bytes = fs::read(folder.path().join("sound/libtwo.so")).unwrap();
        change(&mut bytes);
        fs::write(folder.path().join("changed/libtwo.so"), bytes).unwrap();
        Self { folder }
    }

    fn compare(&self) -> Report {
        let processes = ["sound", "changed"].map(|name| {
            let mut spec = Spec::new(self.folder.path().join("program"));
            spec.env
                .push(("LD_LIBRARY_PATH".into(), self.folder.path().join(name).into()));
            Process::start(spec)
        });
        compare(&processes).0
    }
}

/// Index, address and place in the file of a symbol.
fn symbol(bytes: &[u8], name: &str) -> (u32, u64, usize) {
    let image = Image::parse(bytes).unwrap();
    let all = Symbols::read(&image).unwrap().all(&mut image.budget()).unwrap();
    let found = all.iter().find(|symbol| symbol.name == name.as_bytes()).unwrap();
    // An entry of the table: its value and size stand in its last sixteen bytes.
    let tail = [found.value, found.size].map(u64::to_le_bytes).concat();
    let mut places = bytes
        .windows(16)
        .enumerate()
        .filter(|(_, window)| *window == tail);
    (found.index, found.value, places.next().unwrap().0 - 8)
}

fn inside(offset: u64) -> impl Fn(&Value) -> bool {
    move |value| matches!(value, Value::Inside { object, offset: at } if object.ends_with("libtwo.so") && *at == offset)
}

#[test]
fn an_unchanged_copy_is_equal() {
    let report = Changed::new(|_| {}).compare();
    assert_eq!(report.differences, []);
}

#[test]
fn what_the_linker_moved_is_equal() {
    for dialect in ["-mtls-dialect=gnu", "-mtls-dialect=gnu2"] {
        let changed = Changed::new(|_| {});
        for (folder, place) in [("sound", "0"), ("changed", "0x123400000000")] {
            fs::write(changed.folder.path().join("rich.c"), RICH).unwrap();
            let status = Command::new("cc")
                .current_dir(changed.folder.path())
                .args([
                    "-O1",
                    "-shared",
                    "-fPIC",
                    "-Wl,--build-id=none",
                    dialect,
                    "rich.c",
                ])
                .arg(format!("-Wl,-Ttext-segment={place}"))
                .args(["-Wl,-soname,libtwo.so", "-o", &format!("{folder}/libtwo.so")])
                .status();
            if !status.unwrap().success() {
                println!("SKIPPED: this compiler does not know {dialect}");
                return;
            }
        }
        let report = changed.compare();
        assert_eq!(report.differences, [], "{dialect}");
        assert_eq!(
            report.words.contains_key("tls_descriptor"),
            dialect.ends_with('2')
        );
        assert!(
            report.words.contains_key("irelative") || report.words["absolute"] > 2,
            "{:?}",
            report.words
        );
    }
}

#[test]
fn what_our_own_writer_moves_is_equal() {
    let changed = Changed::new(|bytes| {
        let image = Image::parse(bytes).unwrap();
        let how = Move {
            by: 0x1200_0000_0000,
            ..Move::default()
        };
        let moved = moving::moved(&image, &how).unwrap();
        assert!(moved.relative > 0);
        *bytes = moved.bytes;
    });
    let report = changed.compare();
    assert_eq!(report.differences, []);
    assert!(report.words["relative"] > 0 && report.words["absolute"] > 1);
}

#[test]
fn a_word_that_is_bound_to_another_symbol_is_found() {
    let mut expected = None;
    let changed = Changed::new(|bytes| {
        let (first, second) = (symbol(bytes, "first"), symbol(bytes, "second"));
        let image = Image::parse(bytes).unwrap();
        let relocation = relocations::unpacked(&image)
            .unwrap()
            .find(|relocation| relocation.kind == Kind::JumpSlot && relocation.symbol == first.0)
            .unwrap();
        expected = Some((relocation.offset, first.1, second.1));
        let entry = [relocation.offset, u64::from(first.0) << 32 | 7]
            .map(u64::to_le_bytes)
            .concat();
        let at = bytes.windows(16).position(|window| window == entry).unwrap();
        bytes[at + 12..at + 16].copy_from_slice(&second.0.to_le_bytes());
    });
    let report = changed.compare();
    let (offset, first, second) = expected.unwrap();
    assert_eq!(report.difference_count, 1, "{:?}", report.differences);
    let difference = &report.differences[0];
    assert_eq!(
        (difference.offset, difference.what),
        (offset, What::Word(Kind::JumpSlot))
    );
    assert!(
        inside(first)(&difference.original) && inside(second)(&difference.copy),
        "{difference:?}"
    );
}

#[test]
fn a_changed_byte_of_data_is_found() {
    let mut expected = 0;
    let changed = Changed::new(|bytes| {
        expected = symbol(bytes, "data").1;
        let data = [1_u32, 2, 3].map(u32::to_le_bytes).concat();
        let at = bytes.windows(12).position(|window| window == data).unwrap();
        bytes[at] = 9;
    });
    let report = changed.compare();
    assert_eq!(report.difference_count, 1, "{:?}", report.differences);
    assert_eq!(
        (report.differences[0].offset, report.differences[0].what),
        (expected / 8 * 8, What::Bytes)
    );
}

#[test]
fn a_changed_symbol_is_found_with_all_that_it_moves() {
    let changed = Changed::new(|bytes| {
        let (_, value, place) = symbol(bytes, "second");
        bytes[place + 8..place + 16].copy_from_slice(&(value + 4).to_le_bytes());
    });
    let report = changed.compare();
    // The symbol itself, the function's slot, and the pointer in data.
    assert_eq!(report.difference_count, 3, "{:?}", report.differences);
    let what: Vec<_> = report
        .differences
        .iter()
        .map(|difference| difference.what)
        .collect();
    assert!(matches!(
        what[0],
        What::Field {
            table: "dynamic symbols",
            field: "st_value",
            ..
        }
    ));
    assert!(what.contains(&What::Word(Kind::JumpSlot)) && what.contains(&What::Word(Kind::Absolute)));
}

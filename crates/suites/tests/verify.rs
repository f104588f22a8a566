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
        let named = self.0.objects().iter().map(|object| {
            let path = if object.name.as_os_str().is_empty() { self.0.exe() } else { &object.name };
            (path.to_owned(), object.bias)
        });
        named.filter(|(path, _)| path.is_absolute()).collect()
    }

    fn kernels(&self) -> (u64, u64) {
        let range = self.0.mappings().iter().find(|range| range.name == Path::new("[vdso]"));
        range.map_or((0, 0), |range| (range.start, range.end - range.start))
    }
}

/// Compares two processes whose objects are the same in the same order, and counts the relocations of the first.
fn compare(processes: [Process; 2]) -> (Report, Counts) {
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
    let sides = Sides {
        memories: [&processes[0], &processes[1]],
        objects: &pairs,
        regions: &[Region {
            name: "[vdso]",
            starts: [kernels[0].0, kernels[1].0],
            size: kernels[0].1,
        }],
    };
    (compare_loaded(&sides).unwrap(), counts)
}

#[test]
fn a_program_is_equal_to_itself_under_other_addresses() {
    let mut seen = 0;
    for name in ["python3", "bash", "perl", "git", "gcc", "find", "ls", "gdb", "ld", "node", "ssh", "curl"] {
        let folder = ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .find(|folder| Path::new(folder).join(name).exists());
        let Some(folder) = folder else { continue };
        let program = Path::new(folder).join(name);
        if !fs::read(&program).unwrap().starts_with(b"\x7fELF") {
            continue;
        }
        let (report, counts) = compare([0, 1].map(|_| Process::start(Spec::new(&program))));
        println!("{name}: {} words, {} bytes, {:?}", report.all_words(), report.bytes, report.skipped);
        assert_eq!(report.differences, [], "{name}");
        // Several may write to one place; no sound file has many such.
        assert!(report.all_words() + 10 >= counts.total() - counts.other && report.all_words() > 1000, "{counts:?}");
        assert!(report.words["relative"] <= counts.all_relative() && report.words["jump_slot"] > 0);
        seen += 1;
    }
    assert!(seen >= 3, "the C compiler, a shell and find are on every machine that builds this");
}

//! Bound copies are started by the machine's own loader, without the guard: what only the guard can fill in stays with the
//! loader.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use image::elf::bind::{Choice, Wishes};
use image::elf::lookup::Linker;

use crate::loader::{INTERPRETER, load, loader};

/// Below a third of the address space, above what the address sanitizer shadows.
const BASE: u64 = 0x1a00_0000_0000;

/// Writes the copies of a program into a folder. The program's one.
fn bind(program: &str, folder: &Path, bind: bool) -> PathBuf {
    let loader = loader();
    let closure = load(program, &loader);
    let linker = Linker::new(&closure).unwrap();
    let path_of = |object: usize| {
        let path = &closure.objects[object].path;
        let name = Path::new(path).file_name().unwrap();
        folder.join(name).display().to_string()
    };
    let wishes = Wishes {
        bind,
        path_of: &path_of,
        interpreter: INTERPRETER,
    };
    let choice = Choice::of(&closure, &linker, &loader, wishes).unwrap();
    let layout = choice.layout(BASE, 0).unwrap();
    for copy in choice.copies(&layout, &|_| None).unwrap() {
        let path = path_of(copy.object);
        std::fs::write(&path, &copy.file.bytes).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        println!(
            "{path}: {} relative, {} bound, {} kept",
            copy.file.relative, copy.file.bound, copy.file.kept
        );
    }
    folder.join(Path::new(program).file_name().unwrap())
}

#[test]
fn programs_run_as_before() {
    for (program, arguments) in [
        ("/bin/true", &[][..]),
        ("/bin/ls", &["/"]),
        ("/bin/bash", &["-c", "echo $((1 + 2)); ls / | sort"]),
        (
            "/usr/bin/perl",
            &["-e", "print join(',', map { $_ * 2 } 1..5), qq(\n)"],
        ),
        (
            "/usr/bin/python3",
            &["-c", "import json, ssl, sqlite3; print(json.dumps([1, 2]))"],
        ),
        ("/usr/bin/git", &["--version"]),
        ("/usr/bin/gdb", &["--version"]),
        ("/usr/bin/curl", &["--version"]),
        ("/usr/bin/openssl", &["version"]),
    ] {
        if !Path::new(program).exists() {
            println!("SKIPPED in part: {program} is not installed");
            continue;
        }
        let expected = Command::new(program).args(arguments).output().unwrap();
        for bound in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let copy = bind(program, folder.path(), bound);
            let output = Command::new(&copy).args(arguments).output().unwrap();
            assert_eq!(
                (
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr),
                    output.status
                ),
                (
                    String::from_utf8_lossy(&expected.stdout),
                    String::from_utf8_lossy(&expected.stderr),
                    expected.status
                ),
                "{program}, bound: {bound}"
            );
        }
    }
}

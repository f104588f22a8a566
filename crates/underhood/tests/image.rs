//! `image generate` from outside: what is built is what was asked for, by the counts of an independent reader.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

fn generate(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .args(["-q", "image", "generate", "--out"])
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn good(output: &Output) {
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What a program of binutils says of a file.
fn said(program: &str, options: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(options).arg(file).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn lines_with(text: &str, parts: &[&str]) -> usize {
    text.lines()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .count()
}

#[test]
fn the_articles_set_as_elf_has_a_thousand_imports_and_five_thousand_relocations() {
    let folder = tempfile::tempdir().unwrap();
    good(&generate(folder.path(), &[]));
    let program = said("readelf", &["-rW"], &folder.path().join("app"));
    assert_eq!(lines_with(&program, &["JUMP_SLO", "_func_"]), 1000);
    let relative: usize = (1..=10)
        .map(|part| {
            let file = folder.path().join(format!("lib{part}.so"));
            lines_with(&said("readelf", &["-rW"], &file), &["R_X86_64_RELATIVE"])
        })
        .sum();
    assert_eq!(relative, 5000);
    // It starts, from anywhere, and does nothing.
    let status = Command::new(folder.path().join("app"))
        .current_dir("/")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn the_articles_set_as_pe_by_name_and_by_ordinal() {
    for import in ["name", "ordinal"] {
        let folder = tempfile::tempdir().unwrap();
        good(&generate(folder.path(), &["--format", "pe", "--import", import]));
        let program = said(
            "x86_64-w64-mingw32-objdump",
            &["-p"],
            &folder.path().join("app.exe"),
        );
        // The second column is the ordinal or the hint; by name the third is the name.
        let named = lines_with(&program, &["_func_"]);
        assert_eq!(named, if import == "name" { 1000 } else { 0 });
        let fixups: usize = (1..=10)
            .map(|part| {
                let file = folder.path().join(format!("lib{part}.dll"));
                lines_with(&said("x86_64-w64-mingw32-objdump", &["-p"], &file), &["DIR64"])
            })
            .sum();
        assert_eq!(fixups, 5000);
        let manifest = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["program"]["imports"], 1000);
        let by_ordinal = if import == "name" { 0 } else { 1000 };
        assert_eq!(manifest["program"]["imports_by_ordinal"], by_ordinal);
    }
}

#[test]
fn every_option_builds_what_it_says() {
    let small = ["--libs", "3", "--functions", "7", "--globals", "2"];
    for options in [
        &["--hash", "sysv", "--bind", "now"][..],
        &["--names", "cxx:90", "--hash", "both"],
        &["--symbolic", "--refs", "symbol"],
        &["--refs", "symbol"],
        &["--refs", "code"],
        &["--visibility", "protected", "--no-plt"],
        &["--relr"],
        &["--cross", "4"],
        &["--merged"],
        &["--static"],
        &["--static-pie"],
        &["--base", "distinct", "--align", "65536"],
        &["--linker", "bfd"],
        &["--format", "pe", "--cross", "4", "--base", "distinct"],
        &[
            "--format", "pe", "--merged", "--import", "ordinal", "--align", "4096",
        ],
        &["--format", "pe", "--names", "cxx:120"],
        &["--format", "pe", "--refs", "symbol"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        good(&generate(folder.path(), &[&small, options].concat()));
    }
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone_and_forced_keeps_what_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    std::fs::write(&mine, "kept").unwrap();
    let output = generate(folder.path(), &["--libs", "1", "--functions", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--force"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    good(&generate(
        folder.path(),
        &["--libs", "1", "--functions", "1", "--force"],
    ));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "kept");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (options, reason) in [
        (&["--format", "elf", "--import", "ordinal"][..], "--format pe"),
        (&["--format", "pe", "--relr"], "ELF"),
        (&["--libs", "0"], "from 1 to 1000"),
        (
            &["--libs", "1000", "--functions", "10000", "--globals", "1000"],
            "references",
        ),
        (&["--names", "cxx:5"], "from 40"),
        (&["--align", "5000"], "power of 2"),
        (&["--relr", "--linker", "gold"], "--linker bfd"),
    ] {
        let output = generate(folder.path(), options);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(reason), "{options:?}: {said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

/// Bounded fuzzing: real files with bytes changed and cut off. Whatever comes out, it comes soon and without panic.
#[test]
fn damaged_files_are_counted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let small = [
        "--libs",
        "1",
        "--functions",
        "3",
        "--globals",
        "1",
        "--format",
        "pe",
    ];
    good(&generate(folder.path(), &small));
    let mut random = fastrand::Rng::with_seed(7);
    let (mut read, mut refused) = (0, 0);
    for file in [
        Path::new("/bin/true").to_owned(),
        folder.path().join("lib1.dll"),
        folder.path().join("app.exe"),
    ] {
        let sound = std::fs::read(file).unwrap();
        assert!(image::count::count(&sound).is_ok());
        for round in 0..3000 {
            let mut bytes = sound.clone();
            // Half of the changes in the headers, where they mean most.
            let reach = if round % 2 == 0 {
                1024.min(bytes.len())
            } else {
                bytes.len()
            };
            for _ in 0..random.usize(1..8) {
                bytes[random.usize(..reach)] = [0, 1, 0x7f, 0xff, random.u8(..)][random.usize(..5)];
            }
            if round % 5 == 0 {
                bytes.truncate(random.usize(..bytes.len()));
            }
            match image::count::count(&bytes) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn a_tool_that_is_missing_is_named_with_its_package() {
    let folder = tempfile::tempdir().unwrap();
    for (options, package) in [
        (&["--linker", "mold"][..], "apt-get install mold"),
        (&["--format", "elf"], "apt-get install gcc"),
        (&["--format", "pe"], "apt-get install gcc-mingw-w64-x86-64"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_underhood"))
            .args(["-q", "image", "generate", "--force", "--out"])
            .arg(folder.path())
            .args(options)
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(package), "{said}");
    }
}

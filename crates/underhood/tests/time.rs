//! `time --to entry` and its relatives from outside: what is timed, what is said, and that nothing is left.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn underhood(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .args(["-q", "time", "--no-store"])
        .args(arguments)
        .output()
        .unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "-"];
    all.extend(arguments);
    let output = underhood(&all);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A program in C that says hello, so that one that was run is noticed.
fn hello(folder: &Path, flags: &[&str]) -> PathBuf {
    let source = folder.join("hello.c");
    std::fs::write(
        &source,
        "#include <stdio.h>\nint main(void) { fputs(\"hello\\n\", stderr); return 0; }\n",
    )
    .unwrap();
    let program = folder.join("hello");
    let built = Command::new("cc")
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .status()
        .unwrap();
    assert!(built.success());
    program
}

fn codes(document: &Value) -> Vec<&str> {
    document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect()
}

#[test]
fn to_the_entry_thirty_times_and_nothing_else_is_told() {
    let document = json(&["--to", "entry", "--", "/bin/true"]);
    let command = &document["commands"][0];
    assert_eq!(command["to_entry_us"]["n"], 30);
    let (min, median) = (
        command["to_entry_us"]["min"].as_f64().unwrap(),
        command["to_entry_us"]["median"].as_f64().unwrap(),
    );
    assert!(20.0 < min && min <= median, "{command}");
    assert!(command["minor_faults"]["median"].as_f64().unwrap() > 20.0);
    assert!(command["private_dirty_bytes"]["median"].as_f64().unwrap() > 4096.0);
    assert!(command["to_exit_us"].is_null() && command["cpu_us"].is_null());
    assert_eq!(command["failures"], 0);
}

#[test]
fn main_comes_after_the_entry_and_is_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = hello(folder.path(), &[]);
    let program = program.to_str().unwrap();
    let time = |to: &str| {
        let document = json(&["--to", to, "--", program]);
        document["commands"][0][format!("to_{to}_us")]["min"]
            .as_f64()
            .unwrap()
    };
    // Behind the entry, the C library starts up.
    let (entry, main) = (time("entry"), time("main"));
    assert!(entry > 20.0 && main > entry * 0.7, "{entry} {main}");
    let output = underhood(&["--to", "main", "-r", "1", "--", "/bin/true"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("does not name it"), "{}", said(&output));
}

#[test]
fn a_static_program_that_moves_itself_is_pointed_out() {
    let folder = tempfile::tempdir().unwrap();
    let program = hello(folder.path(), &["-static-pie"]);
    let document = json(&["--to", "entry", "--", program.to_str().unwrap()]);
    assert_eq!(codes(&document), ["static-pie"]);
}

#[test]
fn wrappers_are_followed_and_named() {
    let document = json(&["--to", "entry", "-n", "6", "--", "sh", "-c", "exec env /bin/true"]);
    assert_eq!(codes(&document), ["followed"]);
    let advice = document["warnings"][0]["advice"].as_str().unwrap();
    assert!(
        advice.contains("env") && advice.ends_with("beginning of the last"),
        "{advice}"
    );
}

#[test]
fn a_start_that_fails_is_told_with_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let program = hello(
        folder.path(),
        &["-Wl,-rpath,/nowhere", "-Wl,--no-as-needed", "-lm"],
    );
    // The library that it needs is called by a name that nobody has.
    let bytes = std::fs::read(&program).unwrap();
    let at = bytes.windows(9).position(|name| name == b"libm.so.6").unwrap();
    let mut broken = bytes;
    broken[at..at + 9].copy_from_slice(b"libx.so.6");
    let other = folder.path().join("broken");
    std::fs::write(&other, broken).unwrap();
    assert!(
        Command::new("chmod")
            .arg("755")
            .arg(&other)
            .status()
            .unwrap()
            .success()
    );
    let output = underhood(&["--to", "entry", "--", other.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    assert!(
        text.contains("exited with status 127 before it got there"),
        "{text}"
    );
    assert!(text.contains("libx.so.6: cannot open"), "{text}");
}

#[test]
fn cold_starts_and_copies_are_compared_and_leave_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = hello(folder.path(), &[]);
    let program = program.to_str().unwrap();
    let cold = json(&["--to", "entry", "--cold", "-r", "6", "--", program]);
    assert_eq!(cold["commands"].as_array().unwrap().len(), 2);
    assert!(cold["commands"][1]["name"].as_str().unwrap().ends_with("(cold)"));
    assert_eq!(cold["comparisons"][0]["metric"], "to_entry_us");
    // The C library is in use by ourselves and cannot leave memory.
    assert!(codes(&cold).contains(&"not-cold"), "{cold}");

    let places = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let list = format!("{},{}", places[0].path().display(), places[1].path().display());
    let copies = json(&["--to", "entry", "--dir", &list, "-r", "6", "--", program]);
    assert_eq!(copies["commands"].as_array().unwrap().len(), 2);
    for place in &places {
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

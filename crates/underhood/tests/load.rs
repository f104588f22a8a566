//! `measure load` from outside: sets are built, started, told of, and removed.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn measure(cache: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .env("XDG_CACHE_HOME", cache)
        .args(["-q", "measure", "--no-store", "--json", "-"])
        .args(arguments)
        .output()
        .unwrap()
}

fn scratch(cache: &Path) -> Vec<String> {
    std::fs::read_dir(cache.join("underhood"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("underhood-scratch"))
        .collect()
}

#[test]
fn a_static_program_starts_faster_than_one_with_libraries() {
    let cache = tempfile::tempdir().unwrap();
    // What a killed run of ours left is taken away.
    let left = cache.path().join("underhood/underhood-scratch-4294967290-x");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::set_permissions(
        cache.path().join("underhood"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    let output = measure(
        cache.path(),
        &[
            "load/start",
            "--set",
            "libraries=4",
            "--set",
            "functions=20",
            "--subject",
            "stock,static",
            "-r",
            "6",
            "--seconds",
            "0.05",
        ],
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |subject: &str, metric: &str| {
        document["measurements"]
            .as_array()
            .unwrap()
            .iter()
            .find(|m| m["subject"] == subject)
            .and_then(|m| m["metrics"][metric]["estimate"].as_f64())
            .unwrap()
    };
    assert!(of("static", "to_entry_us") < 0.5 * of("stock", "to_entry_us"));
    assert!(of("stock", "to_exit_us") > of("stock", "to_entry_us") * 0.5);
    assert!(of("stock", "entry_minor_faults") > 20.0);
    assert!(of("stock", "private_dirty_bytes") > of("static", "private_dirty_bytes"));
    assert!(of("stock", "file_bytes") > 4.0 * 10_000.0);
    assert_eq!(scratch(cache.path()), [""; 0]);
}

/// The shape of the article's result, in counts, which no noise changes.
#[test]
fn the_articles_table_has_its_six_cells_in_every_folder() {
    let cache = tempfile::tempdir().unwrap();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let list = format!("{},{}", folders[0].path().display(), folders[1].path().display());
    let output = measure(
        cache.path(),
        &["load", "--table", "-r", "1", "--seconds", "0.02", "--dir", &list],
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = document["measurements"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        let count = |metric: &str| cell["metrics"][metric]["estimate"].as_f64().unwrap();
        let (subject, import) = (&cell["subject"], &cell["parameters"]["import"]);
        let (moved, fixups) = if subject == "default" {
            (9.0, 4500.0)
        } else {
            (0.0, 0.0)
        };
        assert_eq!((count("moved"), count("fixups")), (moved, fixups), "{subject}");
        let looked_up = if subject == "bound" { 0.0 } else { 1000.0 };
        let (names, ordinals) = if import == "name" {
            (looked_up, 0.0)
        } else {
            (0.0, looked_up)
        };
        assert_eq!(
            (count("names"), count("ordinals")),
            (names, ordinals),
            "{subject} {import}"
        );
    }
    for folder in &folders {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn without_a_compiler_the_case_is_a_row_with_the_package_to_install() {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_underhood"))
        .env("XDG_CACHE_HOME", cache.path())
        .env("PATH", "/nowhere")
        .args([
            "-q",
            "measure",
            "--no-store",
            "--json",
            "-",
            "load/start",
            "--subject",
            "stock",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = document["unsupported"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("apt-get install gcc"), "{reason}");
}

//! Wine moves what the reference loader moves: two loaders by different hands agree.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use image::generate::Import;

use crate::generated::{article, based, bound, build, built};

/// Ends the servers of a prefix of our own, whatever becomes of the test.
struct Prefix<'a>(&'a Path);

impl Prefix<'_> {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("WINEPREFIX", self.0)
            .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Prefix<'_> {
    fn drop(&mut self) {
        for option in ["-k", "-w"] {
            let _ = self.command("wineserver").arg(option).output();
        }
    }
}

#[test]
fn nine_of_ten_libraries_are_moved_under_wine_and_none_with_places_of_their_own() {
    if Command::new("wine").arg("--version").output().is_err() {
        println!("SKIPPED: wine is missing; on Debian: apt-get install wine");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let prefix = home.path().join("prefix");
    let prefix = Prefix(&prefix);
    for (distinct, expected) in [(false, 9), (true, 0)] {
        let folder = tempfile::tempdir().unwrap();
        if !build(&article(Import::Name, distinct), folder.path()) {
            return;
        }
        assert_eq!(moved(&prefix, folder.path()), expected);
        if !distinct {
            // The same files with places of their own, and bound, which Wine ignores.
            let Some(files) = built(Import::Name, false) else {
                return;
            };
            for (name, bytes) in bound(&based(&files)) {
                std::fs::write(folder.path().join(name), bytes).unwrap();
            }
            assert_eq!(moved(&prefix, folder.path()), 0);
        }
    }
}

/// Runs the program in a folder; how many of its libraries Wine moves.
fn moved(prefix: &Prefix<'_>, folder: &Path) -> usize {
    let output = prefix
        .command("wine")
        .env("WINEDEBUG", "+module")
        .arg("app.exe")
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let loaded = (1..=10)
        .filter(|part| said.contains(&format!("lib{part}.dll")))
        .count();
    assert_eq!(loaded, 10, "Wine's trace was not understood");
    let moved: BTreeSet<_> = said
        .lines()
        .filter(|line| line.contains("relocating from") && line.contains("0000000180000000"))
        .collect();
    moved.len()
}

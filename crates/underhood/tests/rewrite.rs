//! `image rebase`, `bind` and `undo` of PE files, from outside.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use image::pe::File;
use image::pe::loader::{Counts, Options, Plan};

fn underhood(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_underhood");
    Command::new(program).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A set whose libraries all ask for the same address; none without a compiler.
struct Set {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Set {
    fn built() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("set").display().to_string();
        let output = underhood(&[
            "image",
            "generate",
            "--format",
            "pe",
            "--libs",
            "3",
            "--functions",
            "20",
            "--out",
            &out,
        ]);
        if output.status.code() == Some(3) {
            println!("SKIPPED: {}", text(&output.stderr));
            return None;
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        let files =
            ["lib1.dll", "lib2.dll", "lib3.dll", "app.exe"].map(|name| folder.path().join("set").join(name));
        Some(Self {
            folder,
            files: files.to_vec(),
        })
    }

    /// Runs a command on the libraries, or with `all` on the program too.
    fn run(&self, command: &[&str], all: bool) -> Output {
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let count = if all { 4 } else { 3 };
        let names: Vec<&str> = names.iter().take(count).map(String::as_str).collect();
        underhood(&[&["image"], command, &names].concat())
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        self.files.iter().map(|file| fs::read(file).unwrap()).collect()
    }

    /// What the reference loader has to do for the set.
    fn loaded(&self) -> Counts {
        let contents = self.contents();
        let names = ["lib1.dll", "lib2.dll", "lib3.dll", "app.exe"];
        let pairs = names.iter().copied().zip(contents.iter().map(Vec::as_slice));
        Plan::new(pairs, "app.exe", Options::default())
            .unwrap()
            .load()
            .unwrap()
            .counts
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("set")).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_set_is_rebased_and_bound_and_put_back() {
    let Some(set) = Set::built() else { return };
    let (before, names) = (set.contents(), set.names());
    let times: Vec<_> = set
        .files
        .iter()
        .map(|file| fs::metadata(file).unwrap().modified().unwrap())
        .collect();
    assert!(set.loaded().fixups > 0 && set.loaded().names > 0);
    // In the wrong order: bound to libraries that would be moved.
    let refused = set.run(&["bind"], true);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        text(&refused.stderr).contains("rebase"),
        "{}",
        text(&refused.stderr)
    );

    let dry = set.run(&["rebase", "--dry-run"], false);
    assert!(
        dry.status.success() && text(&dry.stdout).contains("would get"),
        "{}",
        text(&dry.stdout)
    );
    assert_eq!((set.contents(), set.names()), (before.clone(), names.clone()));

    let rebased = set.run(&["rebase", "--clear-dynamic-base", "--json", "-"], false);
    assert!(rebased.status.success(), "{}", text(&rebased.stderr));
    let document: serde_json::Value = serde_json::from_slice(&rebased.stdout).unwrap();
    assert_eq!(document["schema"], "underhood.image.rebase/1");
    for (file, path) in document["files"].as_array().unwrap().iter().zip(&set.files) {
        let bytes = fs::read(path).unwrap();
        let base = format!("{:#x}", File::read(&bytes).unwrap().headers.base);
        assert_eq!(file["to"].as_str(), Some(base.as_str()));
    }
    assert_eq!(set.loaded().fixups, 0);
    assert!(set.run(&["bind"], true).status.success());
    let counts = set.loaded();
    assert_eq!(
        (counts.fixups, counts.names + counts.ordinals),
        (0, 0),
        "{counts:?}"
    );

    // Twice is as good as once, and the first original is the one that is kept.
    assert!(
        set.run(
            &["rebase", "--clear-dynamic-base", "--base", "0x200000000"],
            false
        )
        .status
        .success()
    );
    assert!(set.run(&["undo"], true).status.success());
    assert_eq!((set.contents(), set.names()), (before, names));
    for (file, time) in set.files.iter().zip(times) {
        assert_eq!(
            fs::metadata(file).unwrap().modified().unwrap(),
            time,
            "{}",
            file.display()
        );
    }
}

#[test]
fn results_go_elsewhere_when_that_is_wanted() {
    let Some(set) = Set::built() else { return };
    let before = set.contents();
    let out = set.folder.path().join("out");
    let output = set.run(&["rebase", "--out", &out.display().to_string()], false);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(set.contents(), before);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_changes() {
    let Some(set) = Set::built() else { return };
    let path = |name: &str| set.folder.path().join(name).display().to_string();
    let library = set.files[0].display().to_string();
    // The directory of certificates leads to bytes at the end of the file.
    let mut signed = fs::read(&set.files[0]).unwrap();
    let size = u32::try_from(signed.len()).unwrap();
    let header = u32::from_le_bytes(signed[0x3c..0x40].try_into().unwrap()) as usize;
    let certificates = header + 24 + 112 + 4 * 8;
    signed[certificates..certificates + 4].copy_from_slice(&size.to_le_bytes());
    signed[certificates + 4..certificates + 8].copy_from_slice(&8_u32.to_le_bytes());
    signed.extend([8, 0, 0, 0, 0, 2, 2, 0]);
    fs::write(path("signed.dll"), &signed).unwrap();
    fs::write(path("cut.dll"), &signed[..500]).unwrap();
    fs::write(path("text.dll"), "text").unwrap();
    let before = set.contents();
    for (command, code, why) in [
        (&["rebase", &library, &path("signed.dll")][..], 3, "signed"),
        (&["rebase", &library, &path("cut.dll")], 2, "cut.dll"),
        (&["rebase", &library, &path("text.dll")], 2, "not a PE file"),
        (&["rebase", &path("text.dll")], 2, "neither"),
        (&["rebase", &library, "/bin/true"], 2, "not a PE file"),
        (&["rebase", "/bin/true", &library], 2, "one program"),
        (&["rebase", "--base", "5", &library], 2, "64 KiB"),
        (
            &["rebase", "--exclude", "0x0-0x7fffffffffff", &library],
            3,
            "no room",
        ),
        (&["rebase", "/bin/true"], 2, "--out"),
        (&["bind", &library, &library], 3, "DYNAMIC_BASE"),
    ] {
        let output = underhood(&[&["image"], command].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{command:?}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains(why),
            "{command:?}: {}",
            text(&output.stderr)
        );
        assert_eq!(set.contents(), before);
    }
    assert!(
        underhood(&["image", "rebase", "--strip-signature", &path("signed.dll")])
            .status
            .success()
    );
}

/// Killed at any moment, each file is the old one or the new one, and an original is there for each new one.
#[test]
fn killed_half_way_every_file_is_old_or_new() {
    let Some(set) = Set::built() else { return };
    let before = set.contents();
    let scratch = set.folder.path().join("new");
    assert!(
        set.run(
            &[
                "rebase",
                "--base",
                "0x300000000",
                "--out",
                &scratch.display().to_string()
            ],
            false
        )
        .status
        .success()
    );
    let names: Vec<String> = set.files[..3]
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    for round in 0..30_u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_underhood"))
            .args(["image", "rebase", "--quiet", "--base", "0x300000000"])
            .args(&names)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_micros(400 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for ((file, old), name) in set.files.iter().zip(&before).zip(&names) {
            let now = fs::read(file).unwrap();
            if now == *old {
                continue;
            }
            let read = File::read(&now).unwrap();
            assert!(read.headers.base >= 0x3_0000_0000);
            let output = underhood(&["image", "undo", name]);
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert_eq!(fs::read(file).unwrap(), *old);
        }
    }
}

/// On a file system that is full nothing changes.
#[test]
fn a_full_disk_leaves_the_old_files() {
    let Some(set) = Set::built() else { return };
    let mount = set.folder.path().join("full");
    fs::create_dir(&mount).unwrap();
    let size: u64 = set.files[..3]
        .iter()
        .map(|file| fs::metadata(file).unwrap().len().next_multiple_of(4096))
        .sum();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={}", size + 3 * 4096), "none"])
        .arg(&mount)
        .output()
        .unwrap();
    if !mounted.status.success() {
        println!("SKIPPED: a test that mounts a tmpfs; run it as root");
        return;
    }
    let names: Vec<String> = set.files[..3]
        .iter()
        .map(|file| {
            let copy = mount.join(file.file_name().unwrap());
            fs::copy(file, &copy).unwrap();
            copy.display().to_string()
        })
        .collect();
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let output = underhood(&[&["image", "rebase"], words.as_slice()].concat());
    let left = fs::read_dir(&mount).unwrap().count();
    let same = set
        .files
        .iter()
        .zip(&names)
        .all(|(file, copy)| fs::read(file).unwrap() == fs::read(Path::new(copy)).unwrap());
    let unmounted = Command::new("umount").arg(&mount).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("No space left"),
        "{}",
        text(&output.stderr)
    );
    assert!(same && left == 3, "{left} files");
}

//! What other processes, a full disk and a read-only folder do to a store.
//!
//! The writers are real processes: this test program started again, told by the environment what to write.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use underhood_record::model::{RunKind, RunStatus};
use underhood_record::store::{Filter, Store, StoreError};

use crate::samples::{block, empty_run, measure_run, time_run};

const STORE: &str = "UNDERHOOD_TEST_STORE";
const RUNS: &str = "UNDERHOOD_TEST_RUNS";

/// Not a test: the body of the writing processes.
#[test]
fn writer_process() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let runs: u32 = std::env::var(RUNS).unwrap().parse().unwrap();
    let mut store = Store::open(PathBuf::from(path)).unwrap();
    for _ in 0..runs {
        let run = time_run();
        let session = run.session.clone().unwrap();
        let id = store.begin(&run).unwrap();
        store.set_arms(id, &session.arms).unwrap();
        for block in &session.blocks {
            store.append_blocks(id, std::slice::from_ref(block)).unwrap();
        }
        store.finish(id, &run).unwrap();
    }
}

fn writer(path: &Path, runs: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::writer_process", "--nocapture"])
        .env(STORE, path)
        .env(RUNS, runs.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_writer_leaves_a_sound_store_with_all_it_had_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut seen = 0;
    for round in 0..12_u64 {
        let mut child = writer(&path, u32::MAX);
        // Instants spread over everything a writer does, creating the file and its tables included.
        std::thread::sleep(Duration::from_micros(2_000 + 7_919 * round));
        child.kill().unwrap();
        child.wait().unwrap();

        if !path.exists() {
            continue;
        }
        let mut store = Store::open(&path).unwrap();
        store.verify().unwrap();
        let runs = store.list(Filter::default()).unwrap();
        assert!(
            runs.len() >= seen,
            "round {round}: {seen} runs became {}",
            runs.len()
        );
        for run in &runs[..runs.len() - seen] {
            let loaded = store.load(run.id).unwrap();
            match run.status {
                RunStatus::Complete => assert_eq!(loaded, time_run()),
                status => {
                    assert_eq!(status, RunStatus::Open);
                    let all = time_run().session.unwrap().blocks;
                    let some = loaded.session.map(|session| session.blocks).unwrap_or_default();
                    assert_eq!(some, all[..some.len()]);
                }
            }
        }
        seen = runs.len();
    }
    assert!(seen > 0, "no writer got as far as its first run");
}

#[test]
fn a_reader_rolls_back_what_a_killed_writer_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path).unwrap());
    let journal = folder.path().join("s-journal");
    let end = Instant::now() + Duration::from_secs(20);
    while !journal.exists() && Instant::now() < end {
        let mut child = writer(&path, u32::MAX);
        std::thread::sleep(Duration::from_millis(40));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(journal.exists(), "no kill hit a transaction in 20 s");
    let mut store = Store::open_read_only(&path).unwrap();
    store.list(Filter::default()).unwrap();
    store.verify().unwrap();
}

#[test]
fn four_processes_that_write_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // They create the store together, too.
    let path = folder.path().join("s");
    let children: Vec<Child> = (0..4).map(|_| writer(&path, 5)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut store = Store::open(&path).unwrap();
    store.verify().unwrap();
    let runs = store.list(Filter::default()).unwrap();
    assert_eq!(
        runs.iter().map(|run| run.id.0).collect::<Vec<_>>(),
        (1..=20).rev().collect::<Vec<_>>()
    );
    for run in runs {
        assert_eq!(store.load(run.id).unwrap(), time_run());
    }
    drop(store);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A store on a file system that is mounted read-only, where not even root may write; tests of ours run as root.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_store_can_be_read_and_says_why_it_cannot_be_written() {
    let Some(mount) = Mount::new("size=8m") else {
        return;
    };
    let path = mount.folder.path().join("s");
    let mut store = Store::open(&path).unwrap();
    let id = store.begin(&measure_run()).unwrap();
    store.finish(id, &measure_run()).unwrap();
    drop(store);
    mount.remount("ro");
    assert_eq!(
        Store::open_read_only(&path).unwrap().load(id).unwrap(),
        measure_run()
    );
    let error = Store::open(&path).unwrap().begin(&time_run()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let error = Store::open(mount.folder.path().join("new")).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    let error = Store::open(mount.folder.path().join("new/s")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_what_was_stored_stays() {
    let Some(mount) = Mount::new("size=1m") else {
        return;
    };
    let path = mount.folder.path().join("s");
    let mut store = Store::open(&path).unwrap();
    let id = store.begin(&empty_run(RunKind::Time)).unwrap();
    let session = time_run().session.unwrap();
    store.set_arms(id, &session.arms).unwrap();
    let blocks: Vec<_> = (0..500).map(|i| block(i, &[1.0, 2.0, 3.0])).collect();
    let mut stored = 0;
    let error = loop {
        match store.append_blocks(id, &blocks) {
            Ok(()) => stored += blocks.len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().contains("free some"), "{error}");
    assert!(stored > 0);
    assert_eq!(store.load(id).unwrap().session.unwrap().blocks.len(), stored);
    store.verify().unwrap();
    // Another program finds the same.
    drop(store);
    let mut store = Store::open(&path).unwrap();
    store.verify().unwrap();
    assert_eq!(store.load(id).unwrap().session.unwrap().blocks.len(), stored);
}

/// A small file system of its own, in memory; gone with the value.
#[cfg(target_os = "linux")]
struct Mount {
    folder: tempfile::TempDir,
}

#[cfg(target_os = "linux")]
impl Mount {
    /// None, with a word on the standard error, where this user may not mount.
    fn new(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "underhood-test"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        if done.is_ok_and(|status| status.success()) {
            Some(Self { folder })
        } else {
            use std::io::Write;
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: a test that needs the right to mount a tmpfs (run as root)"
            );
            None
        }
    }

    fn remount(&self, option: &str) {
        let options = format!("remount,{option}");
        let done = Command::new("mount")
            .args(["-o", &options])
            .arg(self.folder.path())
            .status()
            .unwrap();
        assert!(done.success());
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

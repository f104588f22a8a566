//! What other processes do to a store.
//!
//! The writers are real processes: this test program started again, told by the environment what to write.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use underhood_record::model::RunStatus;
use underhood_record::store::{Filter, Store};

use crate::samples::time_run;

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
    let end = Instant::now() + Duration::from_secs(60);
    // How far into a writer's work the kills reach; grows until they find some, however slow the machine is.
    let mut reach = Duration::from_millis(20);
    for round in 0.. {
        if (round >= 12 && seen > 0) || Instant::now() > end {
            break;
        }
        let mut child = writer(&path, u32::MAX);
        // Instants spread over everything a writer does, creating the file and its tables included.
        std::thread::sleep(reach * (1 + round * 5 % 12) / 12);
        child.kill().unwrap();
        child.wait().unwrap();

        if !path.exists() {
            reach *= 2;
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
        if runs.len() == seen {
            reach = (reach * 2).min(Duration::from_secs(4));
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
    let end = Instant::now() + Duration::from_secs(60);
    while !journal.exists() {
        assert!(Instant::now() < end, "no kill hit a transaction");
        let mut child = writer(&path, u32::MAX);
        // The journal lives as long as a transaction; the kill must be faster than the rest of it.
        while !journal.exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
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

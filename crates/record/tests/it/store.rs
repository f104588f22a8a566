//! The store as its users see it: what goes in comes out, and what is not a store is left alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::samples::{block, empty_run, measure_run, time_run, trial};
use proptest::prelude::*;
use rusqlite::Connection;
use underhood_record::arbitrary;
use underhood_record::model::{Case, Measurement, Run, RunId, RunKind, RunStatus, Trial};
use underhood_record::store::{Filter, Store, StoreError};

fn store() -> (tempfile::TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("store.sqlite");
    let store = Store::open(&path).unwrap();
    (folder, path, store)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_that_grows_is_whole_at_every_step() {
    let (_folder, path, mut store) = store();
    let run = measure_run();
    let id = store.begin(&run).unwrap();
    assert_eq!(id, RunId(1));
    let seen = Store::open_read_only(&path).unwrap().load(id).unwrap();
    assert_eq!((seen.status, seen.measurements.len()), (RunStatus::Open, 0));
    assert_eq!(seen.environment, run.environment);

    // Trials of two cases interleaved, as a schedule runs them.
    let [first, second] = [&run.measurements[0], &run.measurements[1]];
    for (a, b) in first.trials.iter().zip(&second.trials) {
        store.append_trial(id, &first.case, a).unwrap();
        store.append_trial(id, &second.case, b).unwrap();
    }
    let seen = store.load(id).unwrap();
    assert_eq!(seen.measurements[0].trials, first.trials);
    assert_eq!(seen.measurements[1].trials, second.trials);
    assert!(seen.measurements[0].metrics.is_empty());

    // The measurement with its metrics takes the place of its trials.
    store.append_measurement(id, first).unwrap();
    assert_eq!(store.load(id).unwrap().measurements[0], *first);

    store.finish(id, &run).unwrap();
    assert_eq!(store.load(id).unwrap(), run);
    store.verify().unwrap();
}

#[test]
fn blocks_that_were_appended_survive_without_an_end() {
    let (_folder, _path, mut store) = store();
    let run = time_run();
    let session = run.session.clone().unwrap();
    let id = store
        .begin(&Run {
            session: None,
            comparisons: Vec::new(),
            ..run.clone()
        })
        .unwrap();
    let early = store.append_blocks(id, &session.blocks[..1]).unwrap_err();
    assert!(
        early.to_string().contains("names arm 0, but there are 0"),
        "{early}"
    );
    store.set_arms(id, &session.arms).unwrap();
    for part in session.blocks.chunks(3) {
        store.append_blocks(id, part).unwrap();
    }
    let seen = store.load(id).unwrap();
    assert_eq!(seen.status, RunStatus::Open);
    assert_eq!(seen.session, Some(session));
    store.finish(id, &run).unwrap();
    assert_eq!(store.load(id).unwrap(), run);
}

#[test]
fn blocks_of_a_killed_tune_are_found() {
    let (_folder, _path, mut store) = store();
    let session = time_run().session.unwrap();
    let id = store.begin(&empty_run(RunKind::Tune)).unwrap();
    store.set_arms(id, &session.arms).unwrap();
    store.append_blocks(id, &session.blocks).unwrap();
    let seen = store.load(id).unwrap();
    assert_eq!((seen.tuning, seen.session), (None, Some(session)));
}

#[test]
fn runs_are_listed_newest_first_and_deleted_for_good() {
    let (_folder, path, mut store) = store();
    assert_eq!(store.latest().unwrap(), None);
    assert_eq!(store.list(Filter::default()).unwrap(), []);
    for run in [measure_run(), time_run()] {
        let id = store.begin(&run).unwrap();
        store.finish(id, &run).unwrap();
    }
    let list = store.list(Filter::default()).unwrap();
    assert_eq!(list.iter().map(|run| run.id.0).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(list[1].what, "heap/heaptest");
    assert_eq!(list[0].what, "./before, ./after 'a b'");
    assert_eq!(list[0].host, "box");
    assert_eq!(list[0].status, RunStatus::Complete);
    let only = |kind, limit| store_ids(&path, Filter { kind, limit });
    assert_eq!(only(Some(RunKind::Measure), None), [1]);
    assert_eq!(only(None, Some(1)), [2]);
    assert_eq!(store.latest().unwrap(), Some(RunId(2)));

    store.delete(RunId(2)).unwrap();
    let gone = store.load(RunId(2)).unwrap_err();
    assert!(
        matches!(gone, StoreError::NoSuchRun { id: RunId(2), .. }),
        "{gone}"
    );
    let late = store.append_blocks(RunId(2), &[block(0, &[1.0])]).unwrap_err();
    assert!(matches!(late, StoreError::NoSuchRun { .. }), "{late}");
    // A number is never given twice: somebody may have written the old one down.
    assert_eq!(store.begin(&time_run()).unwrap(), RunId(3));
}

fn store_ids(path: &Path, filter: Filter) -> Vec<i64> {
    let mut store = Store::open_read_only(path).unwrap();
    store.list(filter).unwrap().iter().map(|run| run.id.0).collect()
}

#[test]
fn nothing_is_left_beside_the_file_and_the_folder_is_private() {
    let (_folder, path, mut store) = store();
    let id = store.begin(&measure_run()).unwrap();
    store.finish(id, &measure_run()).unwrap();
    let folder = path.parent().unwrap();
    drop(store);
    drop(Store::open_read_only(&path).unwrap());
    assert_eq!(names(folder), ["store.sqlite"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn samples_are_compressed() {
    let (_folder, path, mut store) = store();
    let case: Case = "heap/heaptest/threads=2@system".parse().unwrap();
    let samples: Vec<f64> = (0..100_000).map(|i| 14.0 + f64::from(i % 7) * 0.25).collect();
    let measurement = Measurement {
        case: case.clone(),
        metrics: Vec::new(),
        trials: vec![Trial {
            samples,
            ..trial(0, 14.0)
        }],
    };
    let id = store.begin(&empty_run(RunKind::Measure)).unwrap();
    store.append_measurement(id, &measurement).unwrap();
    assert_eq!(store.load(id).unwrap().measurements, [measurement]);
    drop(store);
    let size = fs::metadata(path).unwrap().len();
    assert!(size < 200_000, "100,000 samples take {size} bytes");
}

/// What is not a store is refused with a word of what it is, and not one byte of it changes.
fn refused(content: &[u8], expected: fn(&StoreError) -> bool, word: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    fs::write(&path, content).unwrap();
    for error in [
        Store::open(&path).unwrap_err(),
        Store::open_read_only(&path).unwrap_err(),
    ] {
        assert!(expected(&error), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(names(folder.path()), ["s"]);
}

fn sqlite_file(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    fs::read(&path).unwrap()
}

fn store_file(change: &str) -> Vec<u8> {
    let (_folder, path, mut store) = store();
    let id = store.begin(&measure_run()).unwrap();
    store.finish(id, &measure_run()).unwrap();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(change).unwrap();
    drop(connection);
    fs::read(&path).unwrap()
}

#[test]
fn a_foreign_file_is_refused() {
    let foreign = |error: &StoreError| matches!(error, StoreError::Foreign { .. });
    refused(b"my diary", foreign, "it is not an Underhood store");
    refused(&[0; 4096], foreign, "was left as it is");
    refused(
        &sqlite_file("CREATE TABLE bookmarks (url TEXT)"),
        foreign,
        "application id 0 and 1 tables",
    );
    refused(
        &sqlite_file("PRAGMA application_id = 77"),
        foreign,
        "application id 77",
    );
}

#[test]
fn a_newer_store_is_refused() {
    let newer = |error: &StoreError| {
        matches!(
            error,
            StoreError::Newer {
                found: 2,
                known: 1,
                ..
            }
        )
    };
    refused(
        &store_file("PRAGMA user_version = 2"),
        newer,
        "use a newer Underhood",
    );
}

#[test]
fn a_damaged_store_is_refused() {
    let damaged = |error: &StoreError| matches!(error, StoreError::Damaged { .. });
    let whole = store_file("");
    refused(&whole[..whole.len() / 2], damaged, "move it away");
    refused(
        &store_file("PRAGMA user_version = 0"),
        damaged,
        "never was a format 0",
    );
    refused(
        &store_file("DROP TABLE trial"),
        damaged,
        "tables are not those of its format",
    );
    refused(
        &store_file(
            "DROP TABLE fact; CREATE VIEW fact AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS run, i AS ordinal, '' AS name, '' AS value FROM n",
        ),
        damaged,
        "tables are not those of its format",
    );
}

#[test]
fn an_empty_file_becomes_a_store_but_not_for_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    fs::write(&path, b"").unwrap();
    assert!(
        Store::open_read_only(&path)
            .unwrap_err()
            .to_string()
            .contains("it is empty")
    );
    Store::open(&path).unwrap().begin(&time_run()).unwrap();
    let missing = Store::open_read_only(folder.path().join("none")).unwrap_err();
    assert!(matches!(missing, StoreError::CannotOpen { .. }), "{missing}");
    assert!(missing.to_string().contains("name another with --store"));
    let a_folder = Store::open(folder.path()).unwrap_err();
    assert!(matches!(a_folder, StoreError::CannotOpen { .. }), "{a_folder}");
    let below_a_file = Store::open(path.join("s")).unwrap_err();
    assert!(
        matches!(below_a_file, StoreError::Folder { .. }),
        "{below_a_file}"
    );
}

/// Rows that no program of ours wrote.
#[test]
fn rows_that_make_no_sense_are_damage() {
    let bomb = "UPDATE trial SET samples_count = 9000000000000000000";
    for (change, word) in [
        ("DELETE FROM trial WHERE ordinal = 0", "row 0 is missing"),
        ("UPDATE metric SET unit = 'furlong'", "unit is \"furlong\""),
        ("UPDATE trial SET position = -1", "position is -1"),
        ("UPDATE measurement SET parameters = '[1]'", "not a list of pairs"),
        (
            "UPDATE trial_value SET measurement = 99 WHERE measurement = 1",
            "belongs to measurement 99",
        ),
        ("UPDATE trial SET samples = x'00'", "does not unpack"),
        (
            "UPDATE trial SET samples_count = 3000000000",
            "more than 1024 MiB",
        ),
        (
            "UPDATE trial SET samples_count = 1",
            "more numbers than it should",
        ),
        ("UPDATE run SET arguments = 'x'", "not a list of words"),
        ("UPDATE run SET status = 'on fire'", "status is \"on fire\""),
        (bomb, "longer than memory"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, store_file(change)).unwrap();
        let error = Store::open(&path).unwrap().load(RunId(1)).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error:?}");
        assert!(error.to_string().contains(word), "{change}: {error}");
    }
}

#[test]
fn a_run_that_contradicts_itself_is_not_stored() {
    let (_folder, _path, mut store) = store();
    let mut run = time_run();
    let id = store.begin(&run).unwrap();
    run.comparisons[0].arm = 7;
    let error = store.finish(id, &run).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a comparison names arm 7, but there are 3"),
        "{error}"
    );
    assert_eq!(store.load(id).unwrap().status, RunStatus::Open);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out(run in arbitrary::run()) {
        let (_folder, _path, mut store) = store();
        let id = store.begin(&run).unwrap();
        store.finish(id, &run).unwrap();
        prop_assert_eq!(store.load(id).unwrap(), run);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 50, ..ProptestConfig::default() })]

    /// Flipped bytes anywhere: an error or a run, never a panic, never a hang.
    #[test]
    fn damage_is_survived(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..20),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        static WHOLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut content = WHOLE.get_or_init(|| store_file("")).clone();
        for (at, flip) in flips {
            let at = at.index(content.len());
            content[at] ^= flip;
        }
        if let Some(cut) = cut {
            content.truncate(cut.index(content.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, &content).unwrap();
        if let Ok(mut store) = Store::open(&path) {
            let _ = store.list(Filter::default());
            let _ = store.load(RunId(1));
            let _ = store.verify();
            let _ = store.begin(&measure_run()).and_then(|id| store.finish(id, &measure_run()));
        }
    }
}

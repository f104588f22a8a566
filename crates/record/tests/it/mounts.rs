//! What a full disk and a read-only file system do to a store.
//!
//! Both are made for the test, in memory, which takes the right to mount; without it the tests say that they were skipped.

use std::process::{Command, Stdio};

use underhood_record::model::RunKind;
use underhood_record::store::{Store, StoreError};

use crate::samples::{block, empty_run, measure_run, time_run};

/// A store on a file system that is mounted read-only, where not even root may write; tests of ours run as root.
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
struct Mount {
    folder: tempfile::TempDir,
}

impl Mount {
    /// None, with a word for whoever counts skipped tests, where this user may not mount.
    #[expect(clippy::print_stderr, reason = "the test runner shows it and xtask counts it")]
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
            eprintln!("SKIPPED: a test that mounts a tmpfs; run it as root");
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

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

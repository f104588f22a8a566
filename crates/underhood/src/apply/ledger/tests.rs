//! Changing and undoing files in a system that exists for the test only.

use super::*;
use crate::apply::places::Scope;

struct System {
    root: tempfile::TempDir,
    places: Places,
}

impl System {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let places = Places::of(Scope::System, Some(root.path())).unwrap();
        Self { root, places }
    }

    fn put(&self, path: &str, content: &[u8], mode: u32) {
        let target = self.root.path().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        os::files::write(&target, content, os::files::own_attributes(mode)).unwrap();
    }

    fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.path().join(path)).unwrap()
    }

    fn ledger(&self) -> Ledger<'_> {
        Ledger::named(&self.places, "test")
    }

    /// Every file and folder with content and attributes.
    fn tree(&self) -> Vec<(PathBuf, Option<State>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.push((path, None));
                } else {
                    let state = State::of(&path).unwrap();
                    found.push((path, state));
                }
            }
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        found
    }
}

fn whole(path: &str, content: &str) -> Wanted {
    Wanted {
        path: path.into(),
        ours: Ours::Whole(content.into()),
        mode: 0o644,
    }
}

fn line(path: &str, line: &str) -> Wanted {
    Wanted {
        path: path.into(),
        ours: Ours::Line(line.to_owned()),
        mode: 0o644,
    }
}

#[test]
fn undoing_restores_every_byte_and_folder() {
    let system = System::new();
    // No end of the last line, bytes that are no text, a mode of its own.
    system.put("etc/ld.so.preload", b"/lib/\xff.so", 0o640);
    system.put("usr/keep", b"", 0o600);
    let before = system.tree();
    let wanted = [
        whole("/etc/underhood/heap-select", "*=mimalloc\n"),
        line("/etc/ld.so.preload", "/lib/ours.so"),
    ];
    system.ledger().apply("one", &[], &wanted, false).unwrap();
    assert_eq!(system.get("etc/ld.so.preload"), b"/lib/\xff.so\n/lib/ours.so\n");
    assert_eq!(system.get("etc/underhood/heap-select"), b"*=mimalloc\n");
    assert_ne!(system.tree(), before);
    // A second choice does not take the first for what had been there.
    system
        .ledger()
        .apply(
            "two",
            &[],
            &[whole("/etc/underhood/heap-select", "*=system\n")],
            false,
        )
        .unwrap();
    assert_eq!(system.ledger().read().unwrap().unwrap().title, "two");
    let restored = system.ledger().undo(false).unwrap();
    assert_eq!(restored.len(), 2);
    assert_eq!(system.tree(), before);
    assert_eq!(system.ledger().undo(false).unwrap_err().code, CHECK_FAILED);
}

#[test]
fn a_file_of_somebody_else_is_not_overwritten() {
    let system = System::new();
    system.put("etc/file", b"theirs", 0o600);
    let before = system.tree();
    let failure = system
        .ledger()
        .apply("x", &[], &[whole("/etc/file", "ours")], false)
        .unwrap_err();
    assert_eq!(failure.code, CHECK_FAILED);
    assert_eq!(system.tree(), before);
    system
        .ledger()
        .apply("x", &[], &[whole("/etc/file", "ours")], true)
        .unwrap();
    assert_eq!(system.get("etc/file"), b"ours");
    system.ledger().undo(false).unwrap();
    assert_eq!(system.tree(), before);
}

#[test]
fn a_change_by_somebody_else_wins() {
    let system = System::new();
    let wanted = [whole("/etc/a", "ours\n"), line("/etc/list", "ours")];
    system.ledger().apply("x", &[], &wanted, false).unwrap();
    system.put("etc/list", b"ours\ntheirs\n", 0o644);
    system.put("etc/a", b"edited", 0o644);
    // Refused as a whole: nothing is half undone.
    let changed = system.tree();
    assert_eq!(system.ledger().undo(false).unwrap_err().code, CHECK_FAILED);
    assert_eq!(system.tree(), changed);
    fs::remove_file(system.root.path().join("etc/a")).unwrap();
    system.ledger().undo(false).unwrap();
    assert_eq!(system.get("etc/list"), b"theirs\n");
    assert!(!system.root.path().join("etc/a").exists());
}

#[test]
fn what_others_added_is_what_undoing_keeps() {
    let system = System::new();
    system.put("etc/list", b"first\n", 0o644);
    system
        .ledger()
        .apply("x", &[], &[line("/etc/list", "ours")], false)
        .unwrap();
    system.put("etc/list", b"first\nours\nsecond\n", 0o644);
    system
        .ledger()
        .apply("y", &[], &[line("/etc/list", "newer")], false)
        .unwrap();
    assert_eq!(system.get("etc/list"), b"first\nsecond\nnewer\n");
    system.ledger().undo(false).unwrap();
    assert_eq!(system.get("etc/list"), b"first\nsecond\n");
}

#[test]
fn force_undoes_an_edited_file() {
    let system = System::new();
    system.put("etc/a", b"before", 0o644);
    system
        .ledger()
        .apply("x", &[], &[whole("/etc/a", "ours")], true)
        .unwrap();
    system.put("etc/a", b"edited", 0o644);
    system.ledger().undo(true).unwrap();
    assert_eq!(system.get("etc/a"), b"before");
}

#[test]
fn a_failure_in_the_middle_leaves_nothing() {
    let system = System::new();
    system.put("etc/file", b"", 0o644);
    let before = system.tree();
    // The second file would have to lie in a folder that is a file.
    let wanted = [whole("/etc/first", "ours"), whole("/etc/file/second", "ours")];
    system.ledger().apply("x", &[], &wanted, false).unwrap_err();
    assert_eq!(system.tree(), before);
}

#[test]
fn an_interrupted_change_can_be_undone() {
    let system = System::new();
    let before = system.tree();
    system
        .ledger()
        .apply(
            "x",
            &[],
            &[whole("/etc/a", "ours"), whole("/etc/b", "ours")],
            false,
        )
        .unwrap();
    // As if the record had been written and only one file.
    fs::remove_file(system.root.path().join("etc/b")).unwrap();
    assert_eq!(system.ledger().undo(false).unwrap(), [PathBuf::from("/etc/a")]);
    assert_eq!(system.tree(), before);
}

#[test]
fn links_and_damaged_records_are_refused() {
    let system = System::new();
    system
        .ledger()
        .apply("x", &[], &[whole("/etc/a", "ours")], false)
        .unwrap();
    system.put("var/lib/underhood/undo/test.json", b"{}", 0o600);
    assert_eq!(system.ledger().undo(false).unwrap_err().code, CHECK_FAILED);
    assert_eq!(system.get("etc/a"), b"ours");
    if cfg!(target_os = "linux") {
        let link = system.root.path().join("etc/link");
        std::process::Command::new("ln")
            .arg("-s")
            .arg("a")
            .arg(&link)
            .status()
            .unwrap();
        let failure = Ledger::named(&system.places, "other")
            .apply("x", &[], &[whole("/etc/link", "")], true)
            .unwrap_err();
        assert!(failure.message.contains("symbolic link"), "{}", failure.message);
    }
}

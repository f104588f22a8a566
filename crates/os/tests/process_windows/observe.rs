//! Observation by the debugging interface.

use std::time::Duration;

use underhood_os::process::{End, Place, Visit, exists, observe, visit};

use crate::roles::role;
use crate::run::silent;

#[test]
fn observation_sees_libraries_threads_and_children() {
    let seen = observe(&role("threads", &["5"])).unwrap();
    assert_eq!(seen.end, End::Exited(0));
    let [process] = seen.processes.as_slice() else {
        panic!("{seen:?}")
    };
    assert!(process.inspected);
    assert!(process.threads_created >= 5, "{process:?}");
    let named = |name: &str| {
        process.libraries.iter().any(|file| {
            file.file_name()
                .is_some_and(|file| file.eq_ignore_ascii_case(name))
        })
    };
    assert!(named("kernel32.dll"), "{process:?}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("beat");
    let seen = observe(&role("parent", &[file.to_str().unwrap(), "leave"])).unwrap();
    assert_eq!(
        (seen.end, seen.processes.len(), seen.strays),
        (End::Exited(5), 2, 1)
    );
    assert!(silent(&file));
    let crash = observe(&role("crash", &[])).unwrap().end;
    assert!(matches!(crash, End::Signaled { .. }), "{crash:?}");
}

#[test]
fn observation_keeps_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("beat");
    let mut spec = role("parent", &[file.to_str().unwrap()]);
    spec.timeout = Some(Duration::from_secs(3));
    assert_eq!(observe(&spec).unwrap().end, End::TimedOut);
    assert!(silent(&file));
}

#[test]
fn a_visit_ends_the_program_at_its_entry() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let there = Visit::to_entry(1);
    // Had it begun, it would write.
    let seen = visit(&role("beat", &[made.to_str().unwrap()]), there).unwrap();
    assert_eq!(seen.end, End::Stopped, "{seen:?}");
    assert!(
        (10_000..10_000_000_000).contains(&seen.arrivals[0].ns.unwrap()),
        "{seen:?}"
    );
    assert!(!made.exists());
    assert!(!exists(seen.processes[0].pid) && exists(std::process::id()));
}

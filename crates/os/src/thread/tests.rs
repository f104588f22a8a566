use std::thread;

use super::*;

/// Runs in a thread of its own, so that pinning does not follow the test runner's thread into the next test.
fn in_own_thread(test: impl FnOnce() + Send + 'static) {
    thread::spawn(test).join().unwrap();
}

#[test]
fn a_pinned_thread_is_where_it_was_put() {
    in_own_thread(|| {
        let allowed = current_affinity().unwrap();
        assert!(!allowed.is_empty());
        for cpu in allowed.iter() {
            let set = CpuSet::single(cpu);
            pin_current(&set).unwrap();
            assert_eq!(current_affinity().unwrap(), set);
            for _ in 0..100 {
                assert_eq!(current_cpu(), cpu);
                thread::yield_now();
            }
        }
        pin_current(&allowed).unwrap();
        assert_eq!(current_affinity().unwrap(), allowed);
    });
}

#[test]
fn impossible_sets_are_refused() {
    in_own_thread(|| {
        assert_eq!(
            pin_current(&CpuSet::new()).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        assert!(pin_current(&CpuSet::single(60_000)).is_err());
    });
}

#[test]
fn threads_have_different_identities() {
    let other = thread::spawn(current_id).join().unwrap();
    assert_ne!(other, current_id());
}

#[test]
fn niceness_is_what_is_reported() {
    in_own_thread(|| {
        // Every user may be nicer; the way back needs a privilege.
        assert_eq!(set_nice(10).unwrap(), 10);
        let granted = raise_priority(Priority::High);
        assert!(granted >= Priority::Normal);
        if cfg!(windows) {
            set_nice(0).unwrap();
        }
    });
}

#[test]
fn a_shared_session_keeps_its_autogroup() {
    // The test process is not a session leader (its parent is), so there is always a reason.
    let reason = leave_autogroup().unwrap_err();
    assert!(!reason.reason().is_empty());
}

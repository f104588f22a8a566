use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// The peak is one figure for the whole process, and one of the tests sets it back.
pub(super) static PEAK: Mutex<()> = Mutex::new(());

/// Touches one byte a page of fresh memory and returns the number of pages.
pub(super) fn touch(bytes: usize) -> usize {
    let page = crate::memory::page_size();
    let mut memory = vec![0_u8; bytes];
    for index in (0..bytes).step_by(page) {
        memory[index] = 1;
    }
    std::hint::black_box(&memory);
    bytes / page
}

pub(super) fn burn(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn resident_size_follows_memory_that_is_touched() {
    const BYTES: usize = 64 << 20;
    let _guard = PEAK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = ProcessCounters::read().unwrap();
    touch(BYTES);
    let after = ProcessCounters::read().unwrap();
    // The tests of this binary run side by side, so only lower bounds are safe; the peak covers what was freed again.
    assert!(after.peak_rss_bytes >= BYTES as u64, "{after:?}");
    assert!(after.peak_rss_bytes >= before.current_rss_bytes);
    assert!(after.current_rss_bytes > 0);
}

#[test]
fn cpu_time_is_counted() {
    let before = ProcessCounters::read().unwrap();
    let thread_before = ThreadCounters::read().unwrap();
    let begin = Instant::now();
    // Until the thread itself has run so long: a loaded machine may give us little of the wall time.
    while ThreadCounters::read().unwrap().since(&thread_before).cpu_ns < 60_000_000 {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "60 ms of CPU time were not counted within 20 s"
        );
        burn(Duration::from_millis(1));
    }
    let used = ProcessCounters::read().unwrap().since(&before);
    assert!(used.cpu_ns >= 59_000_000, "{used:?}");
    assert!(used.user_ns + used.system_ns >= 30_000_000, "{used:?}");
}

#[test]
fn differences_keep_sizes_and_subtract_counts() {
    let earlier = ProcessCounters {
        voluntary: Some(3),
        involuntary: None,
        cpu_ns: 10,
        peak_rss_bytes: 4096,
        runqueue_wait_ns: Some(9),
        ..ProcessCounters::default()
    };
    let later = ProcessCounters {
        voluntary: Some(8),
        involuntary: Some(1),
        cpu_ns: 25,
        peak_rss_bytes: 8192,
        runqueue_wait_ns: Some(5),
        ..earlier
    };
    let delta = later.since(&earlier);
    assert_eq!(delta.voluntary, Some(5));
    assert_eq!(delta.involuntary, None);
    assert_eq!(delta.cpu_ns, 15);
    assert_eq!(delta.peak_rss_bytes, 8192);
    // A sum that shrank has lost threads; nothing can be said.
    assert_eq!(delta.runqueue_wait_ns, None);
}

#[test]
fn every_missing_field_has_a_reason() {
    let process = ProcessCounters::read().unwrap();
    let fields = [
        ("context_switches", process.context_switches),
        ("voluntary", process.voluntary),
        ("involuntary", process.involuntary),
        ("children_cpu_ns", process.children_cpu_ns),
        ("cycles", process.cycles),
        ("minor_faults", process.minor_faults),
        ("major_faults", process.major_faults),
        ("runqueue_wait_ns", process.runqueue_wait_ns),
    ];
    let missing: Vec<_> = fields
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| name)
        .collect();
    let explained: Vec<_> = process.gaps().into_iter().map(|gap| gap.field).collect();
    assert_eq!(missing, explained);

    let system = SystemCounters::read().unwrap();
    let fields = [
        ("context_switches", system.context_switches),
        ("interrupts", system.interrupts),
        ("cpu_busy_ns", system.cpu_busy_ns),
        ("cpu_idle_ns", system.cpu_idle_ns),
        ("cpu_steal_ns", system.cpu_steal_ns),
        ("forks", system.forks),
    ];
    let missing: Vec<_> = fields
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| name)
        .collect();
    let explained: Vec<_> = system.gaps().into_iter().map(|gap| gap.field).collect();
    assert_eq!(missing, explained);
}

#[test]
fn the_machine_does_not_stand_still() {
    let before = SystemCounters::read().unwrap();
    thread::sleep(Duration::from_millis(200));
    let delta = SystemCounters::read().unwrap().since(&before);
    if let (Some(busy), Some(idle)) = (delta.cpu_busy_ns, delta.cpu_idle_ns) {
        let total = busy + idle + delta.cpu_steal_ns.unwrap_or(0);
        assert!(
            total >= 100_000_000,
            "200 ms passed, but only {total} ns were accounted for"
        );
    }
    if let Some(switches) = delta.context_switches {
        assert!(switches >= 1);
    }
}

#[test]
fn throttling_is_read_or_refused_with_a_reason() {
    match Throttling::read() {
        Ok(throttling) => assert!(
            throttling.throttled_periods <= throttling.periods,
            "{throttling:?}"
        ),
        Err(reason) => assert!(!reason.reason().is_empty()),
    }
}

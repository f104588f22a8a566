//! Counters that Linux has and Windows has not, each against a child thread of known behaviour.

#![expect(unsafe_code, reason = "a mapping without huge pages has to be made with mmap")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::tests::{PEAK, burn, touch};
use super::*;

#[test]
fn children_count_when_they_were_waited_for() {
    let before = ProcessCounters::read().unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
        .status();
    assert!(status.unwrap().success());
    let used = ProcessCounters::read().unwrap().since(&before);
    // The shell's work is no less than a few milliseconds anywhere; our own is none of it.
    assert!(used.children_cpu_ns.unwrap() > 2_000_000, "{used:?}");
}

#[test]
fn voluntary_switches_are_counted_one_by_one() {
    const SLEEPS: u64 = 50;
    thread::spawn(|| {
        let process = ProcessCounters::read().unwrap();
        let before = ThreadCounters::read().unwrap();
        for _ in 0..SLEEPS {
            thread::sleep(Duration::from_micros(100));
        }
        let delta = ThreadCounters::read().unwrap().since(&before);
        let voluntary = delta.voluntary.unwrap();
        // Anything that makes a thread wait counts (a page read in, a lock), so a few more may appear, never fewer.
        assert!(
            (SLEEPS..=SLEEPS + 5).contains(&voluntary),
            "{voluntary} instead of {SLEEPS}"
        );
        assert_eq!(
            delta.context_switches.unwrap(),
            voluntary + delta.involuntary.unwrap()
        );
        let all = ProcessCounters::read().unwrap().since(&process);
        assert!(all.voluntary.unwrap() >= SLEEPS);
    })
    .join()
    .unwrap();
}

#[test]
fn each_page_touched_is_one_fault() {
    thread::spawn(|| {
        // A thread that has run before: its stack and its heap are warm.
        touch(1 << 20);
        let before = ThreadCounters::read().unwrap();
        let pages = touch_small_pages(8 << 20);
        let faults = ThreadCounters::read()
            .unwrap()
            .since(&before)
            .minor_faults
            .unwrap();
        assert!(
            (pages..pages + 20).contains(&faults),
            "{faults} faults for {pages} pages"
        );
    })
    .join()
    .unwrap();
}

/// Like `touch`, in memory of its own without huge pages, where one page is one fault.
fn touch_small_pages(bytes: usize) -> u64 {
    let page = crate::memory::page_size();
    // SAFETY: a new private mapping wherever the kernel likes.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: the mapping is ours. Kernels without huge pages refuse, which is as good.
    unsafe { libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE) };
    for offset in (0..bytes).step_by(page) {
        // SAFETY: `offset` lies within the mapping, which is writable.
        unsafe { memory.cast::<u8>().wrapping_add(offset).write_volatile(1) };
    }
    // SAFETY: the mapping is ours and nothing points into it any more.
    unsafe { libc::munmap(memory, bytes) };
    (bytes / page) as u64
}

#[test]
fn waiting_for_a_processor_is_seen() {
    // Two threads on one CPU: each waits while the other runs.
    let (done, wait) = mpsc::channel();
    for _ in 0..2 {
        let done = done.clone();
        thread::spawn(move || {
            let cpu = crate::thread::current_affinity().unwrap().first().unwrap();
            crate::thread::pin_current(&crate::thread::CpuSet::single(cpu)).unwrap();
            let before = ThreadCounters::read().unwrap();
            burn(Duration::from_millis(60));
            done.send(ThreadCounters::read().unwrap().since(&before)).unwrap();
        });
    }
    drop(done);
    let waited: u64 = wait
        .iter()
        .map(|delta| delta.runqueue_wait_ns.unwrap_or(u64::MAX / 4))
        .sum();
    assert!(
        waited >= 20_000_000,
        "two threads shared a CPU for 60 ms but waited only {waited} ns"
    );
}

#[test]
fn the_peak_can_be_reset() {
    let _guard = PEAK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    touch(96 << 20);
    let high = ProcessCounters::read().unwrap().peak_rss_bytes;
    if reset_peak_rss() {
        let low = ProcessCounters::read().unwrap().peak_rss_bytes;
        assert!(low < high, "{low} is not below {high}");
    }
}

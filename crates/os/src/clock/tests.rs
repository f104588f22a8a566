use std::thread;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn now_never_goes_back() {
    let clock = Clock::choose();
    let mut last = clock.now();
    for _ in 0..100_000 {
        let now = clock.now();
        assert!(now >= last, "{now} came after {last}");
        last = now;
    }
}

#[test]
fn agrees_with_the_standard_library() {
    // A bracket on both sides: the true span lies between the inner and the outer standard readings.
    let clock = Clock::choose();
    let outer = Instant::now();
    let begin = clock.now();
    let inner = Instant::now();
    thread::sleep(Duration::from_millis(100));
    let inner_ns = inner.elapsed().as_nanos() as f64;
    let end = clock.now();
    let outer_ns = outer.elapsed().as_nanos() as f64;
    let ns = clock.ns(begin, end);
    // CLOCK_MONOTONIC is slewed by up to 500 ppm and our rate is known to 100 ppm.
    let slack = outer_ns * 600e-6 + 2.0 * clock.info().resolution_ns;
    assert!(
        ns >= inner_ns - slack && ns <= outer_ns + slack,
        "{ns} is not within {inner_ns}..{outer_ns}"
    );
}

#[test]
fn info_is_complete() {
    let info = Clock::choose().info();
    assert!(info.cost_ns > 1.0 && info.cost_ns < 100_000.0, "{info:?}");
    assert!(info.resolution_ns > 0.0 && info.resolution_ns < 1e8, "{info:?}");
    assert!(info.calibration_ppm < 100.0, "{info:?}");
    assert!(!info.reason.is_empty());
}

#[test]
fn ns_of_reversed_readings_is_zero() {
    let clock = Clock::choose();
    assert_eq!(clock.ns(10, 5), 0.0);
    assert_eq!(clock.ns(7, 7), 0.0);
}

#[test]
fn ticks_is_the_inverse_of_ns() {
    let clock = Clock::choose();
    let ticks = clock.ticks(1e9);
    let back = clock.ns(0, ticks);
    assert!((back - 1e9).abs() < 1e3, "{back}");
}

#[test]
fn monotonic_ns_counts_nanoseconds() {
    let outer = Instant::now();
    let begin = monotonic_ns();
    let inner = Instant::now();
    thread::sleep(Duration::from_millis(20));
    let inner_ns = inner.elapsed().as_nanos() as u64;
    let span = monotonic_ns() - begin;
    let outer_ns = outer.elapsed().as_nanos() as u64;
    assert!(
        span + 1_000 >= inner_ns && span <= outer_ns + 1_000,
        "{span} is not within {inner_ns}..{outer_ns}"
    );
}

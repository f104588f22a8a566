//! Choosing the clock: which sources can be trusted here, what they cost, how fine they are.

use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use super::{Clock, ClockInfo, Source, imp, tsc};

/// A rate that cannot be known to better than this is not used.
const MAX_PPM: f64 = 100.0;
/// Pauses between the two readings of a calibration; each is tried when the one before was too coarse.
const SPANS_MS: [u64; 3] = [10, 20, 40];

pub(super) struct Chosen {
    pub(super) clock: Clock,
    pub(super) info: ClockInfo,
}

pub(super) fn chosen() -> &'static Chosen {
    static CHOSEN: OnceLock<Chosen> = OnceLock::new();
    CHOSEN.get_or_init(choose)
}

fn choose() -> Chosen {
    let system = Clock {
        source: Source::System,
        ns_per_tick: imp::ns_per_tick(),
    };
    let system_cost = cost_ns(system);
    let (rate, why_kernel) = match trusted_tsc() {
        Ok(found) => found,
        Err(reason) => return describe(system, system_cost, 0.0, format!("{reason}; so {}", imp::NAME)),
    };
    let counter = Clock {
        source: Source::Tsc,
        ns_per_tick: rate.ns_per_tick,
    };
    let counter_cost = cost_ns(counter);
    let known = format!("constant rate, {why_kernel}, calibrated to {:.1} ppm", rate.ppm);
    let prices = format!("{counter_cost:.1} ns a call, {} {system_cost:.1} ns", imp::NAME);
    let grain = resolution_ns(system);
    if counter_cost < system_cost {
        describe(counter, counter_cost, rate.ppm, format!("{known}; {prices}"))
    } else if grain > counter_cost {
        // A clock that costs 20 ns and advances by 100 ns is no bargain.
        let reason = format!("{known}; {prices}, but that advances by {grain:.0} ns");
        describe(counter, counter_cost, rate.ppm, reason)
    } else {
        let reason = format!("the time-stamp counter can be trusted but is dearer: {prices}");
        describe(system, system_cost, 0.0, reason)
    }
}

fn describe(clock: Clock, cost_ns: f64, calibration_ppm: f64, reason: String) -> Chosen {
    let name = match clock.source {
        Source::Tsc => "tsc",
        Source::System => imp::NAME,
    };
    let resolution_ns = resolution_ns(clock);
    let info = ClockInfo {
        name,
        resolution_ns,
        cost_ns,
        ns_per_tick: clock.ns_per_tick,
        calibration_ppm,
        reason,
    };
    Chosen { clock, info }
}

fn trusted_tsc() -> Result<(Rate, String), String> {
    tsc::keeps_time()?;
    let why = imp::kernel_trusts_tsc()?;
    let rate = calibrate()?;
    Ok((rate, why))
}

struct Rate {
    ns_per_tick: f64,
    ppm: f64,
}

/// Measures the rate of the time-stamp counter against the system's steadiest clock.
///
/// Each end is a reading of the system's clock between two readings of the counter; the narrowest of several
/// such brackets is kept, so that being interrupted costs nothing but a retry, and its width bounds the error.
fn calibrate() -> Result<Rate, String> {
    let mut ppm = f64::INFINITY;
    for span in SPANS_MS {
        let begin = Bracket::narrowest();
        thread::sleep(Duration::from_millis(span));
        let end = Bracket::narrowest();
        let ticks = end.middle - begin.middle;
        let ns = end.reference_ns.saturating_sub(begin.reference_ns) as f64;
        if ticks <= 0.0 || ns <= 0.0 {
            return Err("the time-stamp counter did not advance".to_owned());
        }
        ppm = (begin.half_width + end.half_width) / ticks * 1e6;
        if ppm < MAX_PPM {
            return Ok(Rate {
                ns_per_tick: ns / ticks,
                ppm,
            });
        }
    }
    Err(format!(
        "the time-stamp counter could only be calibrated to {ppm:.0} ppm"
    ))
}

struct Bracket {
    /// Ticks of the counter at the moment of the reference reading, as well as we know it.
    middle: f64,
    half_width: f64,
    reference_ns: u64,
}

impl Bracket {
    fn take() -> Self {
        let before = tsc::now();
        let reference_ns = imp::reference_ns();
        let half_width = tsc::now().saturating_sub(before) as f64 / 2.0;
        Self {
            middle: before as f64 + half_width,
            half_width,
            reference_ns,
        }
    }

    fn narrowest() -> Self {
        // The first call of each clock reads cold caches, so a single bracket would be several times too wide.
        (0..15).map(|_| Self::take()).fold(Self::take(), |best, next| {
            if next.half_width < best.half_width {
                next
            } else {
                best
            }
        })
    }
}

/// Nanoseconds a call, as the quickest of several batches: noise only ever adds.
fn cost_ns(clock: Clock) -> f64 {
    const CALLS: u32 = 500;
    let batch = || {
        let begin = clock.now();
        for _ in 0..CALLS {
            std::hint::black_box(clock.now());
        }
        clock.ns(begin, clock.now()) / f64::from(CALLS + 1)
    };
    (0..15).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// The grain of the clock: the greatest common divisor of the differences of neighbouring readings.
///
/// The smallest difference would only show what a call costs; a counter that advances 100 ns at a time or in
/// multiples of a slower crystal shows itself in what all differences have in common.
fn resolution_ns(clock: Clock) -> f64 {
    let mut grain = 0_u64;
    let mut last = clock.now();
    for _ in 0..2000 {
        let now = clock.now();
        grain = gcd(grain, now.saturating_sub(last));
        last = now;
    }
    grain.max(1) as f64 * clock.ns_per_tick
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_is_what_differences_have_in_common() {
        assert_eq!([100, 300, 0, 200].into_iter().fold(0, gcd), 100);
        assert_eq!([24, 36, 60].into_iter().fold(0, gcd), 12);
        assert_eq!([0, 0].into_iter().fold(0, gcd), 0);
    }

    #[test]
    fn calibrations_agree_within_their_bounds() {
        if trusted_tsc().is_err() {
            return;
        }
        let (first, second) = (calibrate().unwrap(), calibrate().unwrap());
        assert!(first.ppm < MAX_PPM && second.ppm < MAX_PPM);
        let apart = (first.ns_per_tick / second.ns_per_tick - 1.0).abs() * 1e6;
        assert!(
            apart <= first.ppm + second.ppm,
            "{apart} ppm apart, bounds {} and {}",
            first.ppm,
            second.ppm
        );
    }
}

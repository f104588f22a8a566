//! The timed loops: work between two readings of the clock, with as little of ours in between as possible.
//!
//! [`batch`] runs a number of operations; [`fixed_time`] runs until a flag is cleared, as the second article
//! does. Both return what was done, so that it can be verified. [`Calibration`] finds the number of operations
//! that makes a batch last as long as wanted.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::clock::{Clock, FlagTimer};

/// Operations done, and the nanoseconds that they took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Wall time in nanoseconds.
    pub elapsed_ns: f64,
    /// Operations done.
    pub operations: u64,
}

/// Runs `operation` exactly `operations` times between two readings of the clock.
#[inline]
pub fn batch(clock: Clock, operations: u64, mut operation: impl FnMut(u64)) -> Timed {
    let start = clock.now();
    for index in 0..operations {
        operation(index);
    }
    let end = clock.now();
    Timed {
        elapsed_ns: clock.ns(start, end),
        operations,
    }
}

/// Runs `operation` until `flag` is false; the caller clears it from elsewhere or lets [`for_duration`] do so.
#[inline]
pub fn fixed_time(clock: Clock, flag: &AtomicBool, mut operation: impl FnMut(u64)) -> Timed {
    let start = clock.now();
    let mut operations = 0;
    while flag.load(Ordering::Relaxed) {
        operation(operations);
        operations += 1;
    }
    let end = clock.now();
    Timed {
        elapsed_ns: clock.ns(start, end),
        operations,
    }
}

/// [`fixed_time`] in a process that may be single-threaded: a timer signal clears the flag, since a timer
/// thread would end the C library's single-threaded shortcuts.
///
/// # Errors
/// When no timer can be had.
pub fn for_duration(clock: Clock, duration: Duration, operation: impl FnMut(u64)) -> std::io::Result<Timed> {
    static RUNNING: AtomicBool = AtomicBool::new(false);
    RUNNING.store(true, Ordering::Relaxed);
    let timer = FlagTimer::arm(&RUNNING, duration)?;
    let timed = fixed_time(clock, &RUNNING, operation);
    drop(timer);
    Ok(timed)
}

/// Nanoseconds that one turn of the loop itself takes, without any work: to be subtracted.
#[must_use]
pub fn empty_loop_ns(clock: Clock, operations: u64) -> f64 {
    let timed = batch(clock, operations, |index| {
        black_box(index);
    });
    timed.elapsed_ns / timed.operations.max(1) as f64
}

/// A sample of this length is not repeated to make sure of it: what is so long is not one interruption.
const LONG_NS: f64 = 1e9;

/// Finds the number of operations that makes a sample last about `target_ns`.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// How long a sample should last.
    pub target_ns: f64,
    /// Never more operations than this.
    pub max_operations: u64,
}

impl Calibration {
    /// Grows the work until it lasts a quarter of the target, then scales once. The calibrating samples are the
    /// warm-up too.
    ///
    /// That a sample lasts long enough is believed when the fastest of three does: a first one that makes the heap, or one that
    /// the system interrupted for some milliseconds, would else end the search with far too little work, and the costs
    /// of starting a sample would pass for those of an operation.
    ///
    /// # Errors
    /// The first error of `sample`, which returns the nanoseconds that so many operations took.
    pub fn find<E>(self, mut sample: impl FnMut(u64) -> Result<f64, E>) -> Result<u64, E> {
        let mut operations = 64.min(self.max_operations);
        loop {
            let mut elapsed = sample(operations)?;
            let mut again = 2;
            while again > 0 && elapsed >= self.target_ns / 4.0 && elapsed < LONG_NS {
                elapsed = elapsed.min(sample(operations)?);
                again -= 1;
            }
            if elapsed >= self.target_ns / 4.0 || operations == self.max_operations {
                let scaled = operations as f64 * self.target_ns / elapsed.max(1.0);
                return Ok((scaled as u64).clamp(1, self.max_operations));
            }
            // Far off: grow by what is missing, within a factor of 16, so that one slow start does not mislead.
            let factor = (self.target_ns / 4.0 / elapsed.max(1.0)).clamp(2.0, 16.0);
            operations = ((operations as f64 * factor) as u64).min(self.max_operations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(cost: f64, start: f64) -> impl FnMut(u64) -> Result<f64, ()> {
        move |operations| Ok(start + cost * operations as f64)
    }

    #[test]
    fn calibration_hits_the_target_of_a_linear_cost() {
        let calibration = Calibration {
            target_ns: 20e6,
            max_operations: 1 << 40,
        };
        for cost in [0.3, 15.0, 4_000.0, 1e6] {
            let operations = calibration.find(linear(cost, 0.0)).unwrap();
            let lasts = operations as f64 * cost;
            assert!((lasts / 20e6 - 1.0).abs() < 0.05, "{cost}: {lasts}");
        }
    }

    #[test]
    fn one_or_two_interrupted_samples_do_not_mislead_calibration() {
        let calibration = Calibration {
            target_ns: 20e6,
            max_operations: 1 << 40,
        };
        for interrupted in [&[0][..], &[1], &[0, 1], &[2, 4], &[3, 5]] {
            let mut index = 0;
            let operations = calibration.find(|operations| {
                let stall = if interrupted.contains(&index) { 8e6 } else { 0.0 };
                index += 1;
                Ok::<_, ()>(stall + 30.0 * operations as f64)
            });
            let lasts = operations.unwrap() as f64 * 30.0;
            assert!((lasts / 20e6 - 1.0).abs() < 0.05, "{interrupted:?}: {lasts}");
        }
    }

    #[test]
    fn one_operation_longer_than_the_target_is_run_once() {
        let calibration = Calibration {
            target_ns: 20e6,
            max_operations: 1 << 40,
        };
        assert_eq!(calibration.find(linear(50e6, 0.0)), Ok(1));
    }

    #[test]
    fn the_bound_on_operations_is_kept() {
        let calibration = Calibration {
            target_ns: 20e6,
            max_operations: 1000,
        };
        assert_eq!(calibration.find(linear(0.1, 0.0)), Ok(1000));
    }

    #[test]
    fn a_batch_counts_what_it_did() {
        let mut sum = 0;
        let timed = batch(Clock::choose(), 1000, |index| sum += index);
        assert_eq!((timed.operations, sum), (1000, 499_500));
        assert!(timed.elapsed_ns > 0.0);
    }

    #[test]
    fn fixed_time_lasts_as_long_as_asked() {
        let mut seen = 0;
        let timed = for_duration(Clock::choose(), Duration::from_millis(20), |_| seen += 1).unwrap();
        assert_eq!(timed.operations, seen);
        assert!(timed.elapsed_ns >= 20e6, "{}", timed.elapsed_ns);
    }
}

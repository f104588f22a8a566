//! Telling the time cheaply enough to time something that is itself cheap.
//!
//! A clock call costs 10 to 25 ns on a good machine and a microsecond on a bad one (a system whose
//! kernel fell back to HPET or the ACPI timer), so the clock has to be chosen, and its price and its
//! grain have to be known before a result is believed. Two sources compete:
//!
//! - the processor's time-stamp counter, read directly. It is trusted only if the processor promises that
//!   it ticks at one rate in every power state, **and** the kernel of this machine relies on it too (the kernel
//!   watches it for drift between sockets, which we cannot), **and** its rate can be calibrated to better
//!   than 100 parts per million;
//! - the operating system's monotonic clock: `clock_gettime(CLOCK_MONOTONIC)` or `QueryPerformanceCounter`.
//!
//! Of the trusted ones the cheapest wins, by measurement, unless it advances in coarser steps than the other costs.
//!
//! Contract of the two platform files (`linux.rs`, `windows.rs`):
//!
//! - `ticks()`: the system's monotonic clock, never decreasing within a process, unit `ns_per_tick()`.
//! - `reference_ns()`: the steadiest clock that the system has, in nanoseconds, for calibration.
//! - `kernel_trusts_tsc()`: whether the kernel keeps its own time by the time-stamp counter, with the reason.
//! - `NAME`: what the system's clock is called in its manual.

mod choose;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;
#[cfg_attr(target_arch = "x86_64", path = "tsc_x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "tsc_none.rs")]
mod tsc;

#[doc(inline)]
pub use crate::timer::FlagTimer;

/// What is known about the clock in use. Stored with every run, since no result is better than its clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockInfo {
    /// The source: `tsc`, `CLOCK_MONOTONIC` or `QueryPerformanceCounter`.
    pub name: &'static str,
    /// The grain in nanoseconds: the largest step of which all observed readings are multiples.
    pub resolution_ns: f64,
    /// What one call of [`Clock::now`] costs in nanoseconds (the quickest of several batches).
    pub cost_ns: f64,
    /// Nanoseconds a tick, as calibrated; 1 where the source counts nanoseconds.
    pub ns_per_tick: f64,
    /// Bound of the relative error of `ns_per_tick` in parts per million; 0 where the source counts nanoseconds.
    pub calibration_ppm: f64,
    /// Why this clock and not the other one, in words.
    pub reason: String,
}

/// A handle on the chosen clock, small enough to be copied into every timed loop.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    ns_per_tick: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Tsc,
    System,
}

impl Clock {
    /// The cheapest trustworthy clock of this machine.
    ///
    /// The first call in a process takes 10 to 60 ms, because it calibrates and measures; later calls
    /// return the same clock at once. Call it before anything is timed.
    pub fn choose() -> Self {
        choose::chosen().clock
    }

    /// A reading in ticks. Only differences of two readings of one process mean anything.
    ///
    /// The time-stamp counter is fenced on both sides: work before the call has finished and work after it
    /// has not begun when the counter is read.
    #[inline]
    pub fn now(self) -> u64 {
        match self.source {
            Source::Tsc => tsc::now(),
            Source::System => imp::ticks(),
        }
    }

    /// The nanoseconds between two readings; 0 if `to` is not after `from`.
    #[inline]
    pub fn ns(self, from: u64, to: u64) -> f64 {
        to.saturating_sub(from) as f64 * self.ns_per_tick
    }

    /// How many ticks make up `ns` nanoseconds, rounded down: for loops that compare readings with a deadline.
    #[inline]
    pub fn ticks(self, ns: f64) -> u64 {
        (ns / self.ns_per_tick) as u64
    }

    /// What is known about this clock.
    pub fn info(self) -> ClockInfo {
        choose::chosen().info.clone()
    }
}

/// The system's monotonic clock in nanoseconds since an arbitrary moment before the process began.
///
/// Comparable between processes of one boot (Linux `CLOCK_MONOTONIC`, clock_gettime(2); Windows
/// `QueryPerformanceCounter`).
pub fn monotonic_ns() -> u64 {
    imp::monotonic_ns()
}

#[cfg(test)]
mod tests;

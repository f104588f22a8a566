//! Linux: clock_gettime(2) through the vDSO, and what the kernel uses to keep its own time.

#![expect(
    unsafe_code,
    reason = "clock_gettime is called directly; the standard library hides the raw value"
)]

use std::fs;

pub(super) const NAME: &str = "CLOCK_MONOTONIC";

/// Nanoseconds since boot, slewed by NTP by at most 0.05 %.
#[inline]
pub(super) fn ticks() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

pub(super) fn ns_per_tick() -> f64 {
    1.0
}

pub(super) fn monotonic_ns() -> u64 {
    ticks()
}

/// `CLOCK_MONOTONIC_RAW`: the hardware's rate, which no daemon adjusts while we calibrate.
pub(super) fn reference_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// The kernel compares the counters of all processors at boot and goes on watching them; it names the source that
/// survived in sysfs (Documentation/ABI/testing/sysfs-devices-system-clocksource).
pub(super) fn kernel_trusts_tsc() -> Result<String, String> {
    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match fs::read_to_string(PATH) {
        Ok(source) if source.trim() == "tsc" => Ok("the kernel's clock source is tsc".to_owned()),
        Ok(source) => Err(format!("the kernel's clock source is {}, not tsc", source.trim())),
        Err(error) => Err(format!("the kernel's clock source is unknown ({PATH}: {error})")),
    }
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one timespec. Both clocks exist since Linux 2.6.28, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

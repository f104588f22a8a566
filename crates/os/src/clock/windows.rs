//! Windows: the performance counter, and whether the system itself reads it from the time-stamp counter.

#![expect(
    unsafe_code,
    reason = "calls the Win32 API and reads the page that the kernel shares with every process"
)]

use std::sync::OnceLock;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

pub(super) const NAME: &str = "QueryPerformanceCounter";

/// The performance counter; 10 million ticks a second on a present-day Windows.
#[inline]
pub(super) fn ticks() -> u64 {
    let mut count = 0_i64;
    // SAFETY: `count` is a valid place for one 64-bit integer. The call cannot fail since Windows XP.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    count as u64
}

pub(super) fn ns_per_tick() -> f64 {
    1e9 / frequency() as f64
}

pub(super) fn monotonic_ns() -> u64 {
    (u128::from(ticks()) * 1_000_000_000 / u128::from(frequency())) as u64
}

pub(super) fn reference_ns() -> u64 {
    monotonic_ns()
}

/// Windows decides at boot whether the time-stamp counters of all processors agree; when they do, programs may
/// read the performance counter without entering the kernel, and a flag in the shared page says so
/// (`KUSER_SHARED_DATA.QpcBypassEnabled`, ntddk.h).
pub(super) fn kernel_trusts_tsc() -> Result<String, String> {
    const QPC_BYPASS_ENABLED: *const u8 = 0x7FFE_03C6 as *const u8;
    // SAFETY: the kernel maps KUSER_SHARED_DATA read-only at 0x7FFE0000 in every process since Windows NT,
    // and the page is 4096 bytes long; the field has been at this offset since Windows 8 and is padding before.
    let flags = unsafe { QPC_BYPASS_ENABLED.read_volatile() };
    if flags & 1 != 0 {
        Ok("the system's own performance counter is read from it".to_owned())
    } else {
        Err("the system does not read its performance counter from the time-stamp counter".to_owned())
    }
}

fn frequency() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let mut frequency = 0_i64;
        // SAFETY: `frequency` is a valid place for one 64-bit integer. The call cannot fail since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut frequency) };
        (frequency as u64).max(1)
    })
}

//! The time-stamp counter of x86-64, and whether the processor promises that it keeps time.

#![expect(
    unsafe_code,
    reason = "the counter is read by intrinsics, which the language calls unsafe"
)]

use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

/// Reads the counter between two fences.
///
/// `rdtsc` alone may be executed early or late by dozens of instructions. `lfence` waits for everything before it and
/// lets nothing after it begin (Intel SDM vol. 2, RDTSC; AMD processors do the same under every kernel
/// with Spectre mitigations).
#[inline]
pub(super) fn now() -> u64 {
    // SAFETY: lfence is part of SSE2, which every x86-64 processor has; it touches no memory.
    unsafe { _mm_lfence() };
    // SAFETY: rdtsc is part of every x86-64 processor; a process forbidden to use it (PR_SET_TSC) could
    // not have been started by us, since the flag is set by the process on itself.
    let ticks = unsafe { _rdtsc() };
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    ticks
}

/// Whether the counter ticks at one rate in all power, frequency and sleep states ("invariant TSC",
/// CPUID 8000_0007h EDX bit 8; Linux shows it as the pair `constant_tsc` and `nonstop_tsc`).
pub(super) fn keeps_time() -> Result<(), &'static str> {
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    let highest = __cpuid(0x8000_0000).eax;
    if highest >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0 {
        Ok(())
    } else {
        Err("the processor does not promise a time-stamp counter of constant rate")
    }
}

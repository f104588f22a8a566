//! A 16-byte compare-and-exchange.
//!
//! snmalloc swaps a pointer together with a counter. gcc turns that into a call of `libatomic`, a library that many
//! machines do not have. The processor has an instruction for it, and Rust an intrinsic, so the one function that
//! is needed is defined here.

use core::arch::x86_64::cmpxchg16b;
use core::sync::atomic::Ordering;

use surface::hidden_symbols;

/// `bool __atomic_compare_exchange_16(void *, void *expected, __int128 desired, int, int)`, GCC's libatomic ABI. The
/// desired value comes in two registers, low half first. On failure `*expected` becomes the present value.
///
/// # Safety
/// `place` is valid for atomic access and a multiple of 16; `expected` is valid for reads and writes. The processor
/// has `cmpxchg16b`, as all since 2006.
unsafe extern "C" fn compare_exchange(place: *mut u128, expected: *mut u128, low: u64, high: u64) -> bool {
    let desired = u128::from(high) << 64 | u128::from(low);
    // SAFETY: the caller's obligation.
    let wanted = unsafe { expected.read_unaligned() };
    // SAFETY: the caller's obligation.
    let found = unsafe { cmpxchg16b(place, wanted, desired, Ordering::SeqCst, Ordering::SeqCst) };
    if found == wanted {
        return true;
    }
    // SAFETY: the caller's obligation.
    unsafe { expected.write_unaligned(found) };
    false
}

hidden_symbols! {
    "__atomic_compare_exchange_16" => compare_exchange;
}

//! `errno`, the thread's last error, as the C library keeps it.

use core::ffi::c_int;

/// Out of memory.
pub const ENOMEM: c_int = 12;
/// Invalid argument.
pub const EINVAL: c_int = 22;

#[link(name = "c")]
unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// The calling thread's `errno`.
pub fn get() -> c_int {
    // SAFETY: takes no arguments and has no preconditions.
    let place = unsafe { __errno_location() };
    // SAFETY: the C library returns the address of a live thread-local integer.
    unsafe { *place }
}

/// Sets the calling thread's `errno`.
pub fn set(value: c_int) {
    // SAFETY: takes no arguments and has no preconditions.
    let place = unsafe { __errno_location() };
    // SAFETY: the C library returns the address of a live thread-local integer that only this thread writes.
    unsafe { *place = value }
}

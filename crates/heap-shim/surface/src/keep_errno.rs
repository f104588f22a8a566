//! `free` must not change `errno`.
//!
//! A caller that fails, cleans up and then prints its error relies on it: POSIX.1-2024 demands it and glibc keeps
//! the rule since 2.33. Heaps break it where a release of memory fails inside `free`, which is rare but ordinary:
//! in a process under mlockall(2), `madvise(MADV_DONTNEED)` answers `EINVAL` every time. Saving `errno` around every
//! `free` would cost each call a nanosecond or two; saving it around the two system calls costs nothing. The linker
//! sends the heaps' calls of both here (`--wrap`).
//!
//! A heap then sees the failure in the return value but not the reason. The bundled heaps look at the reason only
//! to repeat `EAGAIN` or to fall back from `MADV_FREE`, and get by without.
//!
//! Locked memory is more than an error number: snmalloc takes the success of `MADV_DONTNEED` for granted and would
//! hand out old content as zeroed. So what the kernel refuses there is done by hand.

use core::ffi::c_int;
use core::ffi::c_void;

use crate::errno;
use crate::hidden_symbols;

/// "Forget the content; it reads as zero from now on", madvise(2).
const DONTNEED: c_int = 4;

unsafe extern "C" {
    fn __real_madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    fn __real_munmap(start: *mut c_void, length: usize) -> c_int;
}

extern "C" fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int {
    let saved = errno::get();
    // SAFETY: the heap that called owns the range; the arguments pass through unchanged.
    let result = unsafe { __real_madvise(start, length, advice) };
    if result == 0 {
        return 0;
    }
    let is_locked = advice == DONTNEED && errno::get() == errno::EINVAL;
    errno::set(saved);
    if is_locked {
        // SAFETY: the heap forgets the content of memory that it owns and has committed, so it may be written.
        unsafe { core::ptr::write_bytes(start.cast::<u8>(), 0, length) };
        return 0;
    }
    result
}

extern "C" fn munmap(start: *mut c_void, length: usize) -> c_int {
    let saved = errno::get();
    // SAFETY: the heap that called owns the range; the arguments pass through unchanged.
    let result = unsafe { __real_munmap(start, length) };
    if result != 0 {
        errno::set(saved);
    }
    result
}

hidden_symbols! {
    "__wrap_madvise" => madvise;
    "__wrap_munmap" => munmap;
}

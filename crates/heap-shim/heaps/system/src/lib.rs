//! The heap of the C library, reached from behind a replaced `malloc`.
//!
//! Once `malloc` is ours, the C library's own is hidden: its name leads back here. Looking the hidden one up
//! (`dlsym(RTLD_NEXT, "malloc")`) is the classic trap, because the lookup may itself allocate. glibc exports the same
//! functions under second names, `__libc_malloc` and so on, which are simply called. Only the questions about the
//! heap (`malloc_usable_size`, `mallinfo`, …) have no second name; those are looked up, at their first use, which
//! is never inside an allocation.
//!
//! glibc only: other C libraries have no second names.
#![no_std]
#![expect(unsafe_code, reason = "calls the C library's heap")]

mod hidden;

use core::ffi::CStr;
use core::ffi::c_int;
use core::ffi::c_void;

use surface::Heap;
use surface::Hot;
use surface::Usage;
use surface::answers::Mallinfo2;

use crate::hidden::Hidden;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// The heap of the C library.
pub struct System;

unsafe extern "C" fn zalloc(size: usize) -> *mut c_void {
    // SAFETY: any arguments are legal.
    unsafe { __libc_calloc(1, size) }
}

static USABLE_SIZE: Hidden = Hidden::new(c"malloc_usable_size");
static TRIM: Hidden = Hidden::new(c"malloc_trim");
static MALLINFO2: Hidden = Hidden::new(c"mallinfo2");
static STATS: Hidden = Hidden::new(c"malloc_stats");
static INFO: Hidden = Hidden::new(c"malloc_info");
static MALLOPT: Hidden = Hidden::new(c"mallopt");

impl Heap for System {
    const NAME: &'static CStr = c"system";

    const HOT: Hot = Hot {
        malloc: __libc_malloc,
        zalloc,
        realloc: __libc_realloc,
        free: __libc_free,
    };

    #[inline(always)]
    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: any arguments are legal.
        unsafe { __libc_memalign(alignment, size) }
    }

    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the type is that of malloc_usable_size(3).
        match unsafe { USABLE_SIZE.get::<unsafe extern "C" fn(*mut c_void) -> usize>() } {
            // SAFETY: the block is live by the caller's obligation.
            Some(usable_size) => unsafe { usable_size(block) },
            None => 0,
        }
    }

    fn trim(pad: usize) -> bool {
        // SAFETY: the type is that of malloc_trim(3).
        unsafe { TRIM.get::<extern "C" fn(usize) -> c_int>() }.is_some_and(|trim| trim(pad) != 0)
    }

    fn usage() -> Usage {
        let info = Self::mallinfo2();
        Usage {
            mapped: info.arena + info.hblkhd,
            in_use: Some(info.uordblks + info.hblkhd),
        }
    }

    /// All zeros before glibc 2.33, which has no `mallinfo2`.
    fn mallinfo2() -> Mallinfo2 {
        // SAFETY: the type is that of mallinfo2(3).
        unsafe { MALLINFO2.get::<extern "C" fn() -> Mallinfo2>() }
            .map_or_else(Mallinfo2::default, |call| call())
    }

    fn malloc_stats() {
        // SAFETY: the type is that of malloc_stats(3).
        if let Some(stats) = unsafe { STATS.get::<extern "C" fn()>() } {
            stats();
        }
    }

    unsafe fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
        // SAFETY: the type is that of malloc_info(3).
        match unsafe { INFO.get::<unsafe extern "C" fn(c_int, *mut c_void) -> c_int>() } {
            // SAFETY: the stream is the caller's obligation.
            Some(info) => unsafe { info(options, stream) },
            None => -1,
        }
    }

    fn mallopt(parameter: c_int, value: c_int) -> c_int {
        // SAFETY: the type is that of mallopt(3).
        unsafe { MALLOPT.get::<extern "C" fn(c_int, c_int) -> c_int>() }
            .map_or(0, |mallopt| mallopt(parameter, value))
    }
}

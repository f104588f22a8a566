//! jemalloc behind the [`Heap`] contract.
//!
//! It brings its own fork handlers and sets `errno` itself. Its functions carry the prefix `_rjem_`, and so do its
//! settings: the environment variable is `_RJEM_MALLOC_CONF`, and without it nothing is printed.
#![no_std]
#![expect(unsafe_code, reason = "calls a C library")]

use core::ffi::CStr;
use core::ffi::c_char;
use core::ffi::c_void;
use core::ptr;

use surface::Heap;
use surface::Hot;
use surface::Usage;
use tikv_jemalloc_sys as je;

/// jemalloc.
pub struct Jemalloc;

unsafe extern "C" fn zalloc(size: usize) -> *mut c_void {
    // SAFETY: any arguments are legal.
    unsafe { je::calloc(1, size) }
}

/// Reads a statistic, in bytes.
fn read_statistic(name: &CStr) -> Option<usize> {
    let mut value = 0_usize;
    let mut length = size_of::<usize>();
    let place: *mut usize = &raw mut value;
    // SAFETY: the name is a C string; the place is as long as said, and the length is checked by the callee.
    let error = unsafe { je::mallctl(name.as_ptr(), place.cast(), &raw mut length, ptr::null_mut(), 0) };
    (error == 0).then_some(value)
}

/// Makes the statistics current, and gives how many bytes jemalloc holds.
fn refresh() -> Option<usize> {
    let mut epoch = 1_u64;
    let place: *mut u64 = &raw mut epoch;
    // SAFETY: the name is a C string; "epoch" takes a u64 to write.
    let _error = unsafe {
        je::mallctl(
            c"epoch".as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            place.cast(),
            size_of::<u64>(),
        )
    };
    read_statistic(c"stats.resident")
}

impl Heap for Jemalloc {
    const NAME: &'static CStr = c"jemalloc";

    const HOT: Hot = Hot {
        malloc: je::malloc,
        zalloc,
        realloc: je::realloc,
        free: je::free,
    };

    #[inline(always)]
    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: any arguments are legal.
        unsafe { je::aligned_alloc(alignment, size) }
    }

    #[inline(always)]
    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the block is live by the caller's obligation.
        unsafe { je::malloc_usable_size(block) }
    }

    /// Gives back the unused pages of all arenas and the calling thread's cache.
    fn trim(_pad: usize) -> bool {
        let before = refresh();
        // 4096 is MALLCTL_ARENAS_ALL.
        for command in [c"thread.tcache.flush", c"arena.4096.purge"] {
            let name: *const c_char = command.as_ptr();
            // SAFETY: the name is a C string; these commands take and give no data.
            let _error = unsafe { je::mallctl(name, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 0) };
        }
        refresh() < before
    }

    fn usage() -> Usage {
        Usage {
            mapped: refresh().unwrap_or(0),
            in_use: read_statistic(c"stats.allocated"),
        }
    }
}

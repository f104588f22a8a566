//! snmalloc behind the [`Heap`] contract.
//!
//! The settings that its sources need are not options of the bindings but macros, and stand in this workspace's
//! `.cargo/config.toml`: no debug checks, fork handlers, and thread exits without the C++ library. The build script
//! refuses to go on without them.
#![no_std]
#![expect(unsafe_code, reason = "calls a C library")]

#[cfg(target_arch = "x86_64")]
mod wide_exchange;

use core::ffi::CStr;
use core::ffi::c_void;

use snmalloc_sys as sn;
use surface::Heap;
use surface::Hot;
use surface::Usage;

unsafe extern "C" {
    /// Not in the bindings.
    fn sn_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn sn_calloc(count: usize, size: usize) -> *mut c_void;
}

/// snmalloc.
pub struct Snmalloc;

unsafe extern "C" fn zalloc(size: usize) -> *mut c_void {
    // SAFETY: any arguments are legal.
    unsafe { sn_calloc(1, size) }
}

impl Heap for Snmalloc {
    const NAME: &'static CStr = c"snmalloc";

    const HOT: Hot = Hot {
        malloc: sn::sn_malloc,
        zalloc,
        realloc: sn::sn_realloc,
        free: sn::sn_free,
    };

    #[inline(always)]
    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // A size of 0 would yield null.
        // SAFETY: any arguments are legal.
        unsafe { sn_memalign(alignment, size.max(1)) }
    }

    #[inline(always)]
    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the block is live by the caller's obligation.
        unsafe { sn::sn_malloc_usable_size(block) }
    }

    /// Always false: snmalloc gives memory back by itself and has no command for it.
    fn trim(_pad: usize) -> bool {
        false
    }

    /// The memory that snmalloc has handed to its caches. It does not count the program's blocks.
    fn usage() -> Usage {
        let mut current = 0;
        let mut peak = 0;
        // SAFETY: both places are writable.
        unsafe { sn::sn_rust_statistics(&raw mut current, &raw mut peak) };
        Usage {
            mapped: current,
            in_use: None,
        }
    }
}

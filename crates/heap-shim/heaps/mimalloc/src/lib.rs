//! mimalloc behind the [`Heap`] contract.
//!
//! Two things are added to what the library does: `ENOMEM` in `errno` when it fails, and safety across `fork`
//! (module [`fork_gate`]). Its own settings stay open to the user: the environment variables `MIMALLOC_...` work,
//! and without them it prints nothing.
#![no_std]
#![expect(unsafe_code, reason = "calls a C library")]

pub mod fork_gate;
mod quiet_prctl;

use core::ffi::CStr;
use core::ffi::c_int;
use core::ffi::c_void;
use core::ptr;

use libmimalloc_sys as mi;
use surface::Heap;
use surface::Hot;
use surface::Usage;
use surface::errno;

unsafe extern "C" {
    /// Not in the bindings. `handler` gets the error number and `argument`.
    fn mi_register_error(handler: Option<unsafe extern "C" fn(c_int, *mut c_void)>, argument: *mut c_void);
    /// Not in the bindings. What mimalloc's constructor does; harmless when repeated.
    fn _mi_auto_process_init();
}

/// mimalloc.
pub struct Mimalloc;

/// mimalloc's own `EOVERFLOW`: a size above `PTRDIFF_MAX`.
const EOVERFLOW: c_int = 75;

/// Called by mimalloc where an allocation fails. With this, the plain path needs no check of the result.
unsafe extern "C" fn on_error(error: c_int, _: *mut c_void) {
    if error == errno::ENOMEM || error == EOVERFLOW {
        errno::set(errno::ENOMEM);
    }
}

/// Makes failures set `errno`. Called at mimalloc's first lock, which it takes while it starts.
fn report_errors() {
    // SAFETY: stores two pointers; the handler lives as long as the process (`-z nodelete`).
    unsafe { mi_register_error(Some(on_error), ptr::null_mut()) };
}

/// Starts mimalloc where its constructor has been left out. Without it no thread's memory is taken back when the
/// thread ends, and the next thread at the same address takes it for its own.
pub fn start() {
    // SAFETY: has no preconditions; it allocates nothing through the C library.
    unsafe { _mi_auto_process_init() };
}

impl Heap for Mimalloc {
    const NAME: &'static CStr = c"mimalloc";

    const HOT: Hot = Hot {
        malloc: mi::mi_malloc,
        zalloc: mi::mi_zalloc,
        realloc: mi::mi_realloc,
        free: mi::mi_free,
    };

    #[inline(always)]
    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: the alignment is a power of two by the caller's obligation.
        unsafe { mi::mi_malloc_aligned(size, alignment) }
    }

    #[inline(always)]
    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the block is live by the caller's obligation.
        unsafe { mi::mi_usable_size(block) }
    }

    fn trim(_pad: usize) -> bool {
        let before = Self::usage().mapped;
        // SAFETY: has no preconditions.
        unsafe { mi::mi_collect(true) };
        Self::usage().mapped < before
    }

    /// The memory that mimalloc has committed. It does not count the program's blocks.
    fn usage() -> Usage {
        let mut committed = 0;
        let unwanted = ptr::null_mut();
        // SAFETY: every argument is null or points to a writable size.
        unsafe {
            mi::mi_process_info(
                unwanted,
                unwanted,
                unwanted,
                unwanted,
                unwanted,
                &raw mut committed,
                unwanted,
                unwanted,
            )
        };
        Usage {
            mapped: committed,
            in_use: None,
        }
    }
}

//! The contract of a heap.
//!
//! An adapter implements as little as possible: the differences between heaps. What all of them must answer in the
//! same way (the odd sizes and alignments) is decided once, in `entry`, before the adapter is called.

use core::ffi::CStr;
use core::ffi::c_int;
use core::ffi::c_void;

use crate::answers;

/// What a heap can say about itself, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memory that the heap holds from the system.
    pub mapped: usize,
    /// Memory in blocks that the program holds; `None` when the heap does not count it.
    pub in_use: Option<usize>,
}

/// The hot functions of a heap, as C function pointers: constants, so that the exported functions are single jumps,
/// and values, so that the selector can put them into its table.
#[derive(Clone, Copy)]
pub struct Hot {
    /// Allocates bytes (0 is legal and yields a unique block), aligned for any C object of that size.
    pub malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    /// The same, and the bytes are zero.
    pub zalloc: unsafe extern "C" fn(usize) -> *mut c_void,
    /// Changes the size of a live block (never null) to a size that is not 0, moving it when it must.
    pub realloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    /// Takes a live block back; null is ignored.
    pub free: unsafe extern "C" fn(*mut c_void),
}

/// A heap that can stand behind the C surface.
///
/// All functions may be called on any thread at any time, also before the C library has run its constructors, so an
/// implementation opens no files through the C library, loads no libraries and looks up no symbols while it
/// allocates. On failure an allocating function returns null and sets `errno` to `ENOMEM`; `free` leaves `errno`
/// alone.
pub trait Heap {
    /// The name that users give: `mimalloc`.
    const NAME: &'static CStr;

    /// The functions that programs call all the time.
    const HOT: Hot;

    /// Allocates `size` bytes at a multiple of `alignment`.
    ///
    /// # Safety
    /// `alignment` is a power of two.
    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void;

    /// The number of bytes that the program may use in a block, at least what it asked for.
    ///
    /// # Safety
    /// `block` is a live block of this heap (never null).
    unsafe fn usable_size(block: *mut c_void) -> usize;

    /// Returns unused memory to the system, as far as the heap can. True when some was released. `pad` is the
    /// number of bytes that the program wants kept; only the system heap regards it.
    fn trim(pad: usize) -> bool;

    /// The figures for `mallinfo`, `malloc_stats` and `malloc_info`.
    fn usage() -> Usage;

    /// Answers `mallinfo2`.
    fn mallinfo2() -> answers::Mallinfo2 {
        answers::mallinfo2_of(Self::usage())
    }

    /// Answers `malloc_stats`.
    fn malloc_stats() {
        answers::print_stats(Self::NAME, Self::usage());
    }

    /// Answers `malloc_info`.
    ///
    /// # Safety
    /// `stream` is a valid `FILE *` of the C library.
    unsafe fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
        // SAFETY: the caller's obligation is the same.
        unsafe { answers::print_info(Self::NAME, Self::usage(), options, stream) }
    }

    /// Answers `mallopt`: 1 when the parameter was set, 0 when it was not. The parameters are those of glibc's
    /// heap, so any other heap refuses them all.
    fn mallopt(_parameter: c_int, _value: c_int) -> c_int {
        0
    }
}

//! The C library's heap, whatever stands behind it.

#![expect(
    unsafe_code,
    reason = "calls the C library's heap functions, which are what is measured"
)]

use super::{Heap, Kind, Visitor};

/// The one heap that a Linux program calls.
pub const KINDS: &[Kind] = &[Kind {
    name: "system",
    summary: "the C library's malloc, as it comes",
    unsupported: None,
}];

/// Runs the visitor with the heap of that name. Names of preloaded heaps lead to the same functions.
///
/// # Errors
/// None on Linux.
pub fn with<V: Visitor>(_name: &str, visitor: V) -> Result<V::Output, String> {
    Ok(visitor.visit(Libc))
}

#[derive(Clone, Copy, Debug)]
struct Libc;

impl Heap for Libc {
    #[inline(always)]
    fn allocate(self, size: usize) -> *mut u8 {
        // SAFETY: malloc may be called with any size.
        unsafe { libc::malloc(size) }.cast()
    }

    #[inline(always)]
    fn allocate_zeroed(self, size: usize) -> *mut u8 {
        // SAFETY: calloc may be called with any size.
        unsafe { libc::calloc(1, size) }.cast()
    }

    #[inline(always)]
    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8 {
        let mut block = std::ptr::null_mut();
        // SAFETY: `block` is a valid place for a pointer; a bad alignment is answered with an error.
        let error = unsafe { libc::posix_memalign(&raw mut block, alignment.max(size_of::<usize>()), size) };
        if error == 0 {
            block.cast()
        } else {
            std::ptr::null_mut()
        }
    }

    #[inline(always)]
    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the block.
        unsafe { libc::realloc(block.cast(), size) }.cast()
    }

    #[inline(always)]
    unsafe fn free(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { libc::free(block.cast()) };
    }

    #[inline(always)]
    unsafe fn free_aligned(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block; posix_memalign's blocks are freed with free.
        unsafe { libc::free(block.cast()) };
    }
}

//! What the C functions mean.
//!
//! The corners differ between heaps (a zero size, an overflow, an alignment of 3), and programs rely on the corners
//! that glibc cut: `realloc(p, 0)` frees and returns null, `memalign` rounds an odd alignment up, a failed
//! `posix_memalign` leaves `errno` alone. Each function here decides its corners and leaves the plain case to the
//! heap, as a jump where that is possible.

use core::ffi::c_int;
use core::ffi::c_ulong;
use core::ffi::c_void;
use core::ptr;

use crate::Heap;
use crate::errno;

/// The type of page size in the auxiliary vector, getauxval(3).
const AT_PAGESZ: c_ulong = 6;

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

#[cold]
fn fail(error: c_int) -> *mut c_void {
    errno::set(error);
    ptr::null_mut()
}

fn page_size() -> usize {
    // SAFETY: reads a table that the kernel gave the process at its start; any argument is legal.
    let size = unsafe { getauxval(AT_PAGESZ) };
    if size == 0 { 4096 } else { size as usize }
}

/// `calloc`: zeroed memory for `count` objects; null and `ENOMEM` when the product overflows.
///
/// # Safety
/// Sound for any arguments; unsafe because the functions of a heap are.
#[inline(always)]
pub unsafe fn calloc<H: Heap>(count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: any size is legal.
        Some(total) => unsafe { (H::HOT.zalloc)(total) },
        None => fail(errno::ENOMEM),
    }
}

/// `realloc`: a null block is allocated; a size of 0 frees the block and returns null, as glibc does.
///
/// # Safety
/// `block` is null or a live block of the heap.
#[inline(always)]
pub unsafe fn realloc<H: Heap>(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size is legal.
        return unsafe { (H::HOT.malloc)(size) };
    }
    if size == 0 {
        // SAFETY: the caller hands over a live block.
        unsafe { (H::HOT.free)(block) };
        return ptr::null_mut();
    }
    // SAFETY: the block is live and not null, the size not 0.
    unsafe { (H::HOT.realloc)(block, size) }
}

/// `reallocarray`: `realloc` of a product; null and `ENOMEM`, with the block untouched, when it overflows.
///
/// # Safety
/// As for [`realloc`].
#[inline(always)]
pub unsafe fn reallocarray<H: Heap>(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's obligation is the same.
        Some(total) => unsafe { realloc::<H>(block, total) },
        None => fail(errno::ENOMEM),
    }
}

/// `aligned_alloc`: any power of two and, beyond the letter of C11, any size; otherwise null and `EINVAL`.
///
/// # Safety
/// Sound for any arguments; unsafe because the functions of a heap are.
#[inline(always)]
pub unsafe fn aligned_alloc<H: Heap>(alignment: usize, size: usize) -> *mut c_void {
    if !alignment.is_power_of_two() {
        return fail(errno::EINVAL);
    }
    // SAFETY: the alignment is a power of two.
    unsafe { H::memalign(alignment, size) }
}

/// `memalign`: like [`aligned_alloc`], but another alignment is rounded up to a power of two, as glibc does.
///
/// # Safety
/// Sound for any arguments; unsafe because the functions of a heap are.
#[inline(always)]
pub unsafe fn memalign<H: Heap>(alignment: usize, size: usize) -> *mut c_void {
    match alignment.checked_next_power_of_two() {
        // SAFETY: the alignment is a power of two.
        Some(alignment) => unsafe { H::memalign(alignment, size) },
        None => fail(errno::EINVAL),
    }
}

/// `posix_memalign`: 0, `EINVAL` for an alignment that is not a power of two times the size of a pointer, or
/// `ENOMEM`. `errno` and, on failure, `*place` stay as they were.
///
/// # Safety
/// `place` is writable.
pub unsafe fn posix_memalign<H: Heap>(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if !alignment.is_power_of_two() || alignment < size_of::<*mut c_void>() {
        return errno::EINVAL;
    }
    let saved = errno::get();
    // SAFETY: the alignment is a power of two.
    let block = unsafe { H::memalign(alignment, size) };
    if block.is_null() {
        errno::set(saved);
        return errno::ENOMEM;
    }
    // SAFETY: the caller's obligation.
    unsafe { *place = block };
    0
}

/// `valloc`: aligned to a page.
///
/// # Safety
/// Sound for any arguments; unsafe because the functions of a heap are.
pub unsafe fn valloc<H: Heap>(size: usize) -> *mut c_void {
    // SAFETY: a page size is a power of two.
    unsafe { H::memalign(page_size(), size) }
}

/// `pvalloc`: whole pages.
///
/// # Safety
/// Sound for any arguments; unsafe because the functions of a heap are.
pub unsafe fn pvalloc<H: Heap>(size: usize) -> *mut c_void {
    let page = page_size();
    match size.checked_next_multiple_of(page) {
        // SAFETY: a page size is a power of two.
        Some(size) => unsafe { H::memalign(page, size) },
        None => fail(errno::ENOMEM),
    }
}

/// `malloc_usable_size`: 0 for null.
///
/// # Safety
/// `block` is null or a live block of the heap.
#[inline(always)]
pub unsafe fn usable_size<H: Heap>(block: *mut c_void) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: the block is live and not null.
    unsafe { H::usable_size(block) }
}

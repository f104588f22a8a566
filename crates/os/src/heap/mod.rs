//! Heaps as programs see them: allocate, free, and the variants between.
//!
//! On Linux there is one, the C library's functions: what stands behind them is decided when the program starts
//! (a preloaded library, a tunable), and is measured that way. On Windows a program chooses among several heaps by
//! the functions that it calls, so each is a type of its own.
//!
//! Contract of the platform files: a `kind` names a heap; [`with`] calls the visitor with it. A heap's `allocate`
//! returns null when there is no memory and otherwise memory that only its own `free` takes back, from any thread
//! unless the heap says that it serves one thread only.

#![expect(
    unsafe_code,
    reason = "states the contract of functions that take raw pointers, and of blocks that cross threads"
)]

use std::marker::PhantomData;
use std::ptr::NonNull;

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

pub use imp::{KINDS, with};

/// A heap that one can call. Copies are handles to the same heap.
pub trait Heap: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// True when the heap may only be used by the thread that made it.
    const ONE_THREAD: bool = false;

    /// `malloc`.
    fn allocate(self, size: usize) -> *mut u8;

    /// `calloc` of one object.
    fn allocate_zeroed(self, size: usize) -> *mut u8;

    /// `aligned_alloc`; the alignment is a power of two.
    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8;

    /// `realloc`.
    ///
    /// # Safety
    /// `block` came from `allocate`, `allocate_zeroed` or `reallocate` of this heap and was not freed.
    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8;

    /// `free`.
    ///
    /// # Safety
    /// `block` came from `allocate`, `allocate_zeroed` or `reallocate` of this heap and was not freed.
    unsafe fn free(self, block: *mut u8);

    /// Frees what `allocate_aligned` gave.
    ///
    /// # Safety
    /// `block` came from `allocate_aligned` of this heap and was not freed.
    unsafe fn free_aligned(self, block: *mut u8);
}

/// Code that runs with whichever heap was asked for.
pub trait Visitor {
    /// What it returns.
    type Output;

    /// Runs with this heap.
    fn visit<H: Heap>(self, heap: H) -> Self::Output;
}

/// One kind of heap that this platform knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name as a subject.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Why it cannot be called from a running program, if it cannot.
    pub unsupported: Option<&'static str>,
}

/// A block of memory that frees itself. Nothing is added to the heap's own functions: the calls are inlined, and
/// the optimiser cannot see that a block is unused, so it cannot delete them.
#[derive(Debug)]
pub struct Block<H: Heap, const ALIGNED: bool = false> {
    start: NonNull<u8>,
    heap: H,
    not_shared: PhantomData<*mut u8>,
}

// SAFETY: a block owns its memory alone, and a heap frees from any thread. The heaps that serve one thread only
// are never given to code that starts threads: `Heap::ONE_THREAD` says so, and the suites ask it.
unsafe impl<H: Heap, const ALIGNED: bool> Send for Block<H, ALIGNED> {}

mod block;

#[cfg(test)]
mod tests;

//! [`Block`]: owned memory of a heap under test, without unsafe code at its users.

#![expect(
    unsafe_code,
    reason = "owned memory of a foreign heap is reached through raw pointers"
)]

use std::hint::black_box;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::{Block, Heap};

impl<H: Heap, const ALIGNED: bool> Block<H, ALIGNED> {
    #[inline(always)]
    fn own(start: *mut u8, heap: H) -> Option<Self> {
        Some(Self {
            start: NonNull::new(black_box(start))?,
            heap,
            not_shared: PhantomData,
        })
    }

    /// Writes one byte at the start. The block must have been asked for with at least one byte.
    #[inline(always)]
    pub fn mark(&mut self, value: u8) {
        // SAFETY: the heap gave at least one byte, and this block owns it.
        unsafe { self.start.as_ptr().write_volatile(value) };
    }

    /// Reads the byte at the start.
    #[inline(always)]
    #[must_use]
    pub fn marked(&self) -> u8 {
        // SAFETY: as for `mark`; memory of a foreign heap is never uninitialised in the machine's sense, and volatile reads
        // are not optimised on.
        unsafe { self.start.as_ptr().read_volatile() }
    }

    /// Adds one to the 64-bit number at the start, with a real load and a real store. The block must have at least eight
    /// bytes.
    #[inline(always)]
    pub fn increment(&mut self) {
        let number = self.start.as_ptr().cast::<u64>();
        // SAFETY: the caller asked for eight bytes at least, heaps align to eight, and this block owns them.
        let value = unsafe { number.read_volatile() };
        // SAFETY: as above.
        unsafe { number.write_volatile(value.wrapping_add(1)) };
    }

    /// The 64-bit number at the start.
    #[must_use]
    pub fn number(&self) -> u64 {
        // SAFETY: as for `increment`.
        unsafe { self.start.as_ptr().cast::<u64>().read_volatile() }
    }

    /// Sets the 64-bit number at the start.
    pub fn set_number(&mut self, value: u64) {
        // SAFETY: as for `increment`.
        unsafe { self.start.as_ptr().cast::<u64>().write_volatile(value) };
    }

    /// The address, for checks of alignment.
    #[inline(always)]
    #[must_use]
    pub fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Fills the first `size` bytes; the block must have as many.
    pub fn fill(&mut self, size: usize, value: u8) {
        // SAFETY: the caller asked for `size` bytes, and this block owns them.
        unsafe { self.start.as_ptr().write_bytes(value, size) };
        black_box(self.start);
    }

    /// True when the first `size` bytes all have this value; the block must have as many, all written or zeroed.
    #[must_use]
    pub fn is_filled(&self, size: usize, value: u8) -> bool {
        // SAFETY: the caller asked for `size` bytes, they were written, and this block owns them.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), size) };
        bytes.iter().all(|&byte| byte == value)
    }
}

impl<H: Heap> Block<H> {
    /// `malloc`; `None` when there is no memory.
    #[inline(always)]
    pub fn new(heap: H, size: usize) -> Option<Self> {
        Self::own(heap.allocate(size), heap)
    }

    /// `calloc`; `None` when there is no memory.
    #[inline(always)]
    pub fn zeroed(heap: H, size: usize) -> Option<Self> {
        Self::own(heap.allocate_zeroed(size), heap)
    }

    /// `realloc`; `None` when there is no memory, and then the block is freed.
    #[inline(always)]
    #[must_use]
    pub fn resized(self, size: usize) -> Option<Self> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the block is owned, came from this heap and is given up here.
        let moved = unsafe { this.heap.reallocate(this.start.as_ptr(), size) };
        if moved.is_null() {
            // SAFETY: a failed realloc leaves the old block owned by us.
            unsafe { this.heap.free(this.start.as_ptr()) };
        }
        Self::own(moved, this.heap)
    }
}

impl<H: Heap> Block<H, true> {
    /// `aligned_alloc`; `None` when there is no memory.
    #[inline(always)]
    pub fn aligned(heap: H, alignment: usize, size: usize) -> Option<Self> {
        Self::own(heap.allocate_aligned(alignment, size), heap)
    }
}

impl<H: Heap, const ALIGNED: bool> Drop for Block<H, ALIGNED> {
    #[inline(always)]
    fn drop(&mut self) {
        let start = self.start.as_ptr();
        if ALIGNED {
            // SAFETY: only `aligned` makes such blocks, and this is the one place that frees them.
            unsafe { self.heap.free_aligned(start) };
        } else {
            // SAFETY: the block came from this heap's other functions, and this is the one place that frees it.
            unsafe { self.heap.free(start) };
        }
    }
}

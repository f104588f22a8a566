//! The heaps that a Windows program can call: the C runtime's, the process heap, heaps of its own, and one lock
//! around the C runtime's heap as in the first article.

#![expect(
    unsafe_code,
    reason = "calls the heap functions of Windows and of the C runtime, which are what is measured"
)]

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Memory::{
    GetProcessHeap, HEAP_NO_SERIALIZE, HEAP_ZERO_MEMORY, HeapAlloc, HeapCreate, HeapFree, HeapReAlloc,
};
use windows_sys::Win32::System::Threading::{
    CRITICAL_SECTION, EnterCriticalSection, InitializeCriticalSection, LeaveCriticalSection,
};

use super::{Heap, Kind, Visitor};

const fn kind(name: &'static str, summary: &'static str) -> Kind {
    Kind {
        name,
        summary,
        unsupported: None,
    }
}

/// The heaps that a Windows program can call.
pub const KINDS: &[Kind] = &[
    kind("crt", "malloc and free of the C runtime"),
    kind("process_heap", "HeapAlloc on the process heap"),
    kind("private_heap", "HeapAlloc on a heap of its own"),
    kind(
        "private_heap_noserialize",
        "a heap of its own without a lock; one thread only",
    ),
    kind(
        "single_lock",
        "the C runtime's heap behind one critical section, as in the first article",
    ),
    kind("mimalloc", "mimalloc, linked into the worker"),
    Kind {
        name: "segment_heap",
        summary: "the segment heap",
        unsupported: Some(
            "Windows chooses it when a program starts, from the program's manifest (heapType SegmentHeap, Windows 10 \
             2004 and later) or from its registry entry; it cannot be called from a running program",
        ),
    },
];

/// Runs the visitor with the heap of that name.
///
/// # Errors
/// When there is no such heap or it cannot be made.
pub fn with<V: Visitor>(name: &str, visitor: V) -> Result<V::Output, String> {
    match name {
        "crt" => Ok(visitor.visit(Crt)),
        "process_heap" => {
            // SAFETY: no obligation.
            Ok(visitor.visit(Windows::<false> {
                heap: unsafe { GetProcessHeap() } as usize,
            }))
        }
        "private_heap" => Ok(visitor.visit(Windows::<false> {
            heap: private_heap(0)?,
        })),
        "private_heap_noserialize" => Ok(visitor.visit(Windows::<true> {
            heap: private_heap(HEAP_NO_SERIALIZE)?,
        })),
        "single_lock" => Ok(visitor.visit(SingleLock)),
        "mimalloc" => Ok(visitor.visit(Mimalloc)),
        _ => Err(format!("there is no heap {name:?} to call")),
    }
}

fn private_heap(options: u32) -> Result<usize, String> {
    // SAFETY: sizes of zero ask for a growable heap.
    let heap = unsafe { HeapCreate(options, 0, 0) };
    if heap.is_null() {
        return Err(format!("make a heap: {}", std::io::Error::last_os_error()));
    }
    Ok(heap as usize)
}

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn _aligned_malloc(size: usize, alignment: usize) -> *mut c_void;
    fn _aligned_free(block: *mut c_void);
}

#[derive(Clone, Copy, Debug)]
struct Crt;

impl Heap for Crt {
    #[inline(always)]
    fn allocate(self, size: usize) -> *mut u8 {
        // SAFETY: malloc may be called with any size.
        unsafe { malloc(size) }.cast()
    }

    #[inline(always)]
    fn allocate_zeroed(self, size: usize) -> *mut u8 {
        // SAFETY: calloc may be called with any size.
        unsafe { calloc(1, size) }.cast()
    }

    #[inline(always)]
    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8 {
        // SAFETY: the contract says that the alignment is a power of two.
        unsafe { _aligned_malloc(size, alignment) }.cast()
    }

    #[inline(always)]
    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the block.
        unsafe { realloc(block.cast(), size) }.cast()
    }

    #[inline(always)]
    unsafe fn free(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { free(block.cast()) };
    }

    #[inline(always)]
    unsafe fn free_aligned(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { _aligned_free(block.cast()) };
    }
}

/// A heap of HeapAlloc; the handle is kept as a number so that copies may go to other threads.
#[derive(Clone, Copy, Debug)]
struct Windows<const ONE_THREAD: bool> {
    heap: usize,
}

impl<const ONE_THREAD: bool> Windows<ONE_THREAD> {
    #[inline(always)]
    fn handle(self) -> HANDLE {
        self.heap as HANDLE
    }
}

impl<const SINGLE: bool> Heap for Windows<SINGLE> {
    const ONE_THREAD: bool = SINGLE;

    #[inline(always)]
    fn allocate(self, size: usize) -> *mut u8 {
        // SAFETY: the handle is that of a living heap.
        unsafe { HeapAlloc(self.handle(), 0, size) }.cast()
    }

    #[inline(always)]
    fn allocate_zeroed(self, size: usize) -> *mut u8 {
        // SAFETY: the handle is that of a living heap.
        unsafe { HeapAlloc(self.handle(), HEAP_ZERO_MEMORY, size) }.cast()
    }

    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8 {
        // HeapAlloc aligns to 16 and knows no more: round up, and keep the true start in front of the block.
        let Some(total) = size.checked_add(alignment + size_of::<usize>()) else {
            return std::ptr::null_mut();
        };
        let start = self.allocate(total);
        if start.is_null() {
            return start;
        }
        let address = (start.addr() + size_of::<usize>()).next_multiple_of(alignment);
        let block = start.with_addr(address);
        // SAFETY: the word in front of `block` lies within the allocation.
        let place = unsafe { block.cast::<*mut u8>().sub(1) };
        // SAFETY: as above; the place may be unaligned when the alignment is below eight.
        unsafe { place.write_unaligned(start) };
        block
    }

    #[inline(always)]
    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the block.
        unsafe { HeapReAlloc(self.handle(), 0, block.cast(), size) }.cast()
    }

    #[inline(always)]
    unsafe fn free(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { HeapFree(self.handle(), 0, block.cast()) };
    }

    unsafe fn free_aligned(self, block: *mut u8) {
        // SAFETY: `allocate_aligned` left the true start in front of the block.
        let place = unsafe { block.cast::<*mut u8>().sub(1) };
        // SAFETY: as above.
        let start = unsafe { place.read_unaligned() };
        // SAFETY: the start came from `allocate`.
        unsafe { self.free(start) };
    }
}

struct Lock(UnsafeCell<CRITICAL_SECTION>);

// SAFETY: a critical section is made to be used by several threads.
unsafe impl Sync for Lock {}
// SAFETY: it stays where it is, within a static.
unsafe impl Send for Lock {}

static LOCK: OnceLock<Box<Lock>> = OnceLock::new();

fn locked<R>(work: impl FnOnce() -> R) -> R {
    let lock = LOCK.get_or_init(|| {
        let lock = Box::new(Lock(UnsafeCell::new(CRITICAL_SECTION::default())));
        // SAFETY: the box keeps its address for ever, and nobody uses it yet.
        unsafe { InitializeCriticalSection(lock.0.get()) };
        lock
    });
    // SAFETY: it was initialised above.
    unsafe { EnterCriticalSection(lock.0.get()) };
    let result = work();
    // SAFETY: this thread entered it above.
    unsafe { LeaveCriticalSection(lock.0.get()) };
    result
}

#[derive(Clone, Copy, Debug)]
struct SingleLock;

impl Heap for SingleLock {
    fn allocate(self, size: usize) -> *mut u8 {
        locked(|| Crt.allocate(size))
    }

    fn allocate_zeroed(self, size: usize) -> *mut u8 {
        locked(|| Crt.allocate_zeroed(size))
    }

    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8 {
        locked(|| Crt.allocate_aligned(alignment, size))
    }

    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the block.
        locked(|| unsafe { Crt.reallocate(block, size) })
    }

    unsafe fn free(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        locked(|| unsafe { Crt.free(block) });
    }

    unsafe fn free_aligned(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        locked(|| unsafe { Crt.free_aligned(block) });
    }
}

#[derive(Clone, Copy, Debug)]
struct Mimalloc;

impl Heap for Mimalloc {
    #[inline(always)]
    fn allocate(self, size: usize) -> *mut u8 {
        // SAFETY: it may be called with any size.
        unsafe { libmimalloc_sys::mi_malloc(size) }.cast()
    }

    #[inline(always)]
    fn allocate_zeroed(self, size: usize) -> *mut u8 {
        // SAFETY: it may be called with any size.
        unsafe { libmimalloc_sys::mi_zalloc(size) }.cast()
    }

    #[inline(always)]
    fn allocate_aligned(self, alignment: usize, size: usize) -> *mut u8 {
        // SAFETY: the contract says that the alignment is a power of two.
        unsafe { libmimalloc_sys::mi_malloc_aligned(size, alignment) }.cast()
    }

    #[inline(always)]
    unsafe fn reallocate(self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the block.
        unsafe { libmimalloc_sys::mi_realloc(block.cast(), size) }.cast()
    }

    #[inline(always)]
    unsafe fn free(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { libmimalloc_sys::mi_free(block.cast()) };
    }

    #[inline(always)]
    unsafe fn free_aligned(self, block: *mut u8) {
        // SAFETY: the caller vouches for the block.
        unsafe { libmimalloc_sys::mi_free(block.cast()) };
    }
}

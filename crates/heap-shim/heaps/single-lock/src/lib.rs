//! The system heap behind one lock: the disease, on purpose.
//!
//! Until about 2000 the heap of a C library was one data structure behind one lock, and threads that allocate at the
//! same time stood in line for it. Many programs still have such a heap, of their own or of a small C library. To
//! show what that costs here and now, these heaps take the healthy system heap and put one lock in front of it, in
//! the three kinds that the article behind this experiment ranks:
//!
//! | name | lock | what a thread does when the lock is taken |
//! |---|---|---|
//! | `single_lock` | critical section, no spin count | sleeps at once |
//! | `single_lock_spin` | critical section, spin count 4000 | tries 4000 times, then sleeps |
//! | `single_lock_kernel` | mutex of the kernel | enters the kernel, and does so too when the lock is free |
//!
//! The lock is held during the system heap's own work and not a moment longer, as it was then.
#![no_std]
#![expect(unsafe_code, reason = "calls the C library's heap and the futex system call")]

mod critical_section;
mod fork;
mod futex;
mod kernel_mutex;

use core::ffi::CStr;
use core::ffi::c_int;
use core::ffi::c_void;
use core::marker::PhantomData;

use heap_system::System;
use surface::Heap;
use surface::Hot;
use surface::Usage;
use surface::answers::Mallinfo2;

pub use crate::critical_section::CriticalSection;
pub use crate::kernel_mutex::KernelMutex;

/// A lock, and the name of the heap that stands behind it.
pub trait Lock: Sync + 'static {
    /// The heap's name.
    const NAME: &'static CStr;

    /// The one lock of the process.
    fn instance() -> &'static Self;

    /// Waits until the calling thread holds the lock. Leaves `errno` alone.
    fn acquire(&self);

    /// Gives the lock back. Leaves `errno` alone.
    fn release(&self);

    /// Makes the lock free, in a child process that has only the forking thread.
    fn reset(&self);
}

/// The system heap behind `L`.
pub struct SingleLock<L>(PhantomData<L>);

/// Runs `work` with the lock held.
fn locked<L: Lock, T>(work: impl FnOnce() -> T) -> T {
    fork::register_once::<L>();
    let lock = L::instance();
    lock.acquire();
    let result = work();
    lock.release();
    result
}

unsafe extern "C" fn malloc<L: Lock>(size: usize) -> *mut c_void {
    // SAFETY: any size is legal.
    locked::<L, _>(|| unsafe { (System::HOT.malloc)(size) })
}

unsafe extern "C" fn zalloc<L: Lock>(size: usize) -> *mut c_void {
    // SAFETY: any size is legal.
    locked::<L, _>(|| unsafe { (System::HOT.zalloc)(size) })
}

unsafe extern "C" fn realloc<L: Lock>(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's obligation.
    locked::<L, _>(|| unsafe { (System::HOT.realloc)(block, size) })
}

unsafe extern "C" fn free<L: Lock>(block: *mut c_void) {
    if !block.is_null() {
        // SAFETY: the caller's obligation.
        locked::<L, _>(|| unsafe { (System::HOT.free)(block) });
    }
}

impl<L: Lock> Heap for SingleLock<L> {
    const NAME: &'static CStr = L::NAME;

    const HOT: Hot = Hot {
        malloc: malloc::<L>,
        zalloc: zalloc::<L>,
        realloc: realloc::<L>,
        free: free::<L>,
    };

    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: the caller's obligation.
        locked::<L, _>(|| unsafe { System::memalign(alignment, size) })
    }

    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the caller's obligation.
        unsafe { System::usable_size(block) }
    }

    fn trim(pad: usize) -> bool {
        System::trim(pad)
    }

    fn usage() -> Usage {
        System::usage()
    }

    fn mallinfo2() -> Mallinfo2 {
        System::mallinfo2()
    }

    fn malloc_stats() {
        System::malloc_stats();
    }

    unsafe fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
        // SAFETY: the caller's obligation.
        unsafe { System::malloc_info(options, stream) }
    }

    fn mallopt(parameter: c_int, value: c_int) -> c_int {
        System::mallopt(parameter, value)
    }
}

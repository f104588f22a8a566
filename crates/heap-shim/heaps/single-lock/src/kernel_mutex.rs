//! A mutex of the kernel.
//!
//! The oldest kind: every acquisition and every release is a system call, taken or not, and a release hands the
//! mutex to the thread that waited longest. Linux has such an object without a name, a descriptor or anything that
//! could be left behind: the priority-inheritance futex, pi(7) in futex(2), when its shortcut in user space is not
//! used. The kernel keeps the holder's thread number in the word.

use core::ffi::CStr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering;

use crate::Lock;
use crate::futex::Operation;
use crate::futex::futex;

/// A mutex that the kernel manages.
pub struct KernelMutex {
    word: AtomicU32,
}

static MUTEX: KernelMutex = KernelMutex {
    word: AtomicU32::new(0),
};

impl Lock for KernelMutex {
    const NAME: &'static CStr = c"single_lock_kernel";

    fn instance() -> &'static Self {
        &MUTEX
    }

    fn acquire(&self) {
        // Fails only for a moment: while a holder exits, or when a signal comes.
        while !futex(&self.word, Operation::LockPi, 0) {}
    }

    fn release(&self) {
        let _given = futex(&self.word, Operation::UnlockPi, 0);
    }

    fn reset(&self) {
        self.word.store(0, Ordering::Relaxed);
    }
}

//! A critical section, with or without a spin count.
//!
//! Not fair: a thread that leaves it may have it again before the one that it woke arrives. Windows' own were fair
//! until 2005 and so passed through every waiter in turn, a switch for each allocation; `kernel_mutex` shows that.

use core::ffi::CStr;
use core::hint;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering;

use crate::Lock;
use crate::futex::Operation;
use crate::futex::futex;

/// Nobody holds the lock.
const FREE: u32 = 0;
/// Somebody holds it and nobody waits.
const HELD: u32 = 1;
/// Somebody holds it and somebody may sleep.
const AWAITED: u32 = 2;

/// A lock that is taken with one atomic instruction when it is free, and slept on when it is not, after `SPINS`
/// more looks at it. With 4000, the number that Windows used for its heaps, it is `InitializeCriticalSectionAndSpinCount`.
pub struct CriticalSection<const SPINS: u32> {
    state: AtomicU32,
}

static SLEEPING: CriticalSection<0> = CriticalSection {
    state: AtomicU32::new(FREE),
};
static SPINNING: CriticalSection<4000> = CriticalSection {
    state: AtomicU32::new(FREE),
};

impl<const SPINS: u32> CriticalSection<SPINS> {
    fn take_free(&self) -> bool {
        self.state
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    fn take(&self) {
        if self.take_free() {
            return;
        }
        for _ in 0..SPINS {
            hint::spin_loop();
            if self.state.load(Ordering::Relaxed) == FREE && self.take_free() {
                return;
            }
        }
        while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
            let _woken = futex(&self.state, Operation::Wait, AWAITED);
        }
    }

    fn give(&self) {
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            let _woken = futex(&self.state, Operation::Wake, 1);
        }
    }
}

impl Lock for CriticalSection<0> {
    const NAME: &'static CStr = c"single_lock";

    fn instance() -> &'static Self {
        &SLEEPING
    }

    fn acquire(&self) {
        self.take();
    }

    fn release(&self) {
        self.give();
    }

    fn reset(&self) {
        self.state.store(FREE, Ordering::Relaxed);
    }
}

impl Lock for CriticalSection<4000> {
    const NAME: &'static CStr = c"single_lock_spin";

    fn instance() -> &'static Self {
        &SPINNING
    }

    fn acquire(&self) {
        self.take();
    }

    fn release(&self) {
        self.give();
    }

    fn reset(&self) {
        self.state.store(FREE, Ordering::Relaxed);
    }
}

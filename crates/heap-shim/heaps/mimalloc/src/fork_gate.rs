//! mimalloc across `fork`.
//!
//! `fork` copies one thread and all memory. A lock that another thread held at that moment stays held in the child
//! for ever, and the child hangs in its next `malloc`. Other heaps take all their locks before the fork
//! (pthread_atfork(3)); mimalloc has no such handler and no list of its locks. But every lock it has is a
//! `pthread_mutex_t`, so the linker sends its lock operations here (`--wrap`), where they are counted:
//!
//! - a thread enters the gate before it takes a lock and leaves it after it gave the lock back;
//! - the fork handler waits until nobody is inside, and shuts the gate for everyone else until the fork is done.
//!
//! So at the moment of the copy no lock is held. A thread that waits *for the gate* holds no lock of mimalloc,
//! because the gate is shut only while it is empty; therefore nested locks cannot deadlock. The locks are off the
//! fast path (fresh memory, thread starts and ends), and so is the gate.
//!
//! What this does not cover: mimalloc's lock-free bitmaps. A thread that vanishes between two steps of a claim
//! leaves that claim behind in the child. Nearly all of that only leaks; the exception is one busy wait, entered
//! when the child frees the last block of an abandoned page that a vanished thread was just looking at.

use core::ffi::c_int;
use core::ffi::c_void;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering;

use surface::hidden_symbols;

unsafe extern "C" {
    fn __real_pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    fn __real_pthread_mutex_trylock(mutex: *mut c_void) -> c_int;
    fn __real_pthread_mutex_unlock(mutex: *mut c_void) -> c_int;
    fn __register_atfork(
        prepare: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
        library: *mut c_void,
    ) -> c_int;
    safe fn pthread_self() -> usize;
    safe fn sched_yield() -> c_int;
    static __dso_handle: c_void;
}

/// What the gate does with the locks that come by.
static MODE: AtomicU32 = AtomicU32::new(MODE_FRESH);
/// Nothing has been decided yet: the first lock registers the fork handlers.
const MODE_FRESH: u32 = 0;
/// Locks are counted.
const MODE_COUNTING: u32 = 1;
/// Locks pass unseen: they belong to another heap, which has its own fork handlers.
const MODE_ASIDE: u32 = 2;

/// The number of locks that are held or waited for, or [`SHUT`].
static INSIDE: AtomicU32 = AtomicU32::new(0);
/// The gate is shut: a fork is going on and no lock is held.
const SHUT: u32 = u32::MAX;
/// The thread that forks, while the gate is shut. Its own fork handlers may allocate, so it passes.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// Tells the gate that mimalloc is not the heap in use, so that another heap's locks cost nothing more.
pub fn stand_aside() {
    MODE.store(MODE_ASIDE, Ordering::Relaxed);
}

/// Registers the fork handlers. At the first lock, which is in the first allocation: `prepare` handlers run in the
/// reverse order of their registration, so ours runs last, when the handlers of other libraries have allocated.
#[cold]
fn register() {
    if MODE
        .compare_exchange(MODE_FRESH, MODE_COUNTING, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
    {
        crate::report_errors();
        // SAFETY: the handlers live as long as the process; the handle is this library's own. The result is not
        // looked at: without memory for the list, forks are no worse than without this gate.
        let _result = unsafe { __register_atfork(prepare, done, done, (&raw const __dso_handle).cast_mut()) };
    }
}

/// Enters the gate. False when the caller is not counted: it is the forking thread, or the gate stands aside.
fn enter() -> bool {
    match MODE.load(Ordering::Relaxed) {
        MODE_ASIDE => return false,
        MODE_FRESH => register(),
        _ => {}
    }
    loop {
        let inside = INSIDE.load(Ordering::Relaxed);
        if inside == SHUT {
            if FORKING.load(Ordering::Relaxed) == pthread_self() {
                return false;
            }
            let _zero = sched_yield();
        } else if INSIDE
            .compare_exchange_weak(inside, inside + 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
        {
            return true;
        }
    }
}

/// Leaves the gate, unless the caller was not counted.
fn leave() {
    if MODE.load(Ordering::Relaxed) == MODE_COUNTING && INSIDE.load(Ordering::Relaxed) != SHUT {
        let _before = INSIDE.fetch_sub(1, Ordering::Release);
    }
}

extern "C" fn prepare() {
    while INSIDE
        .compare_exchange_weak(0, SHUT, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        let _zero = sched_yield();
    }
    FORKING.store(pthread_self(), Ordering::Relaxed);
}

/// In the parent and in the child.
extern "C" fn done() {
    FORKING.store(0, Ordering::Relaxed);
    INSIDE.store(0, Ordering::Release);
}

extern "C" fn lock(mutex: *mut c_void) -> c_int {
    let _counted = enter();
    // SAFETY: the caller owns the mutex; the call passes through.
    unsafe { __real_pthread_mutex_lock(mutex) }
}

extern "C" fn try_lock(mutex: *mut c_void) -> c_int {
    let counted = enter();
    // SAFETY: the caller owns the mutex; the call passes through.
    let result = unsafe { __real_pthread_mutex_trylock(mutex) };
    if result != 0 && counted {
        leave();
    }
    result
}

extern "C" fn unlock(mutex: *mut c_void) -> c_int {
    // SAFETY: the caller holds the mutex; the call passes through.
    let result = unsafe { __real_pthread_mutex_unlock(mutex) };
    leave();
    result
}

hidden_symbols! {
    "__wrap_pthread_mutex_lock" => lock;
    "__wrap_pthread_mutex_trylock" => try_lock;
    "__wrap_pthread_mutex_unlock" => unlock;
}

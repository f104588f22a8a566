//! The lock across `fork`: taken before, given back in the parent, made new in the child, pthread_atfork(3).
//!
//! Registered at the first allocation. `prepare` handlers run in the reverse order of their registration, so ours
//! runs last, and the handlers of other libraries may allocate in theirs.

use core::ffi::c_int;
use core::ffi::c_void;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering;

use crate::Lock;

unsafe extern "C" {
    fn __register_atfork(
        prepare: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
        library: *mut c_void,
    ) -> c_int;
    static __dso_handle: c_void;
}

static REGISTERED: AtomicBool = AtomicBool::new(false);

extern "C" fn prepare<L: Lock>() {
    L::instance().acquire();
}

extern "C" fn parent<L: Lock>() {
    L::instance().release();
}

extern "C" fn child<L: Lock>() {
    L::instance().reset();
}

/// Registers the handlers of the one lock that this library has.
#[inline(always)]
pub fn register_once<L: Lock>() {
    if !REGISTERED.load(Ordering::Relaxed) {
        register::<L>();
    }
}

#[cold]
fn register<L: Lock>() {
    if !REGISTERED.swap(true, Ordering::Relaxed) {
        let library = (&raw const __dso_handle).cast_mut();
        // SAFETY: the handlers live as long as the process; the handle is this library's own.
        let _result = unsafe { __register_atfork(prepare::<L>, parent::<L>, child::<L>, library) };
    }
}

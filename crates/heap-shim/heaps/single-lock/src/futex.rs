//! futex(2), without a trace in `errno`.

use core::ffi::c_int;
use core::ffi::c_long;
use core::sync::atomic::AtomicU32;

use surface::errno;

#[cfg(target_arch = "x86_64")]
const SYS_FUTEX: c_long = 202;
#[cfg(target_arch = "aarch64")]
const SYS_FUTEX: c_long = 98;

const PRIVATE: c_int = 128;

/// An operation of futex(2) on a word that only this process uses.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Operation {
    /// Sleeps while the word has the value.
    Wait = 0,
    /// Wakes as many sleepers as the value says.
    Wake = 1,
    /// Locks the word, a mutex that the kernel manages.
    LockPi = 6,
    /// Unlocks it, handing it to the first in line.
    UnlockPi = 7,
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// Does an operation, without a timeout. True on success.
pub fn futex(word: &AtomicU32, operation: Operation, value: u32) -> bool {
    let saved = errno::get();
    let no_timeout = core::ptr::null::<u8>();
    // SAFETY: the word lives as long as the borrow, and no other pointer is given.
    let result = unsafe {
        syscall(
            SYS_FUTEX,
            word.as_ptr(),
            operation as c_int | PRIVATE,
            value,
            no_timeout,
        )
    };
    errno::set(saved);
    result >= 0
}

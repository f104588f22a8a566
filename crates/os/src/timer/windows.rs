//! Windows: a one-shot timer of the process's default timer queue.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Threading::{
    CreateTimerQueueTimer, DeleteTimerQueueTimer, WT_EXECUTEINTIMERTHREAD, WT_EXECUTEONLYONCE,
};

#[derive(Debug)]
pub(super) struct Timer {
    handle: HANDLE,
}

impl Timer {
    pub(super) fn arm(flag: &'static AtomicBool, after: Duration) -> io::Result<Self> {
        // One more: the queue counts whole milliseconds from the last one that has begun, and so fires up to one early.
        let milliseconds = u32::try_from(after.as_nanos().div_ceil(1_000_000) + 1).unwrap_or(u32::MAX - 1);
        let mut handle: HANDLE = std::ptr::null_mut();
        // SAFETY: `handle` is a valid place for a handle; the callback only stores to the flag, which lives as
        // long as the process.
        let made = unsafe {
            CreateTimerQueueTimer(
                &raw mut handle,
                std::ptr::null_mut(),
                Some(clear_flag),
                std::ptr::from_ref(flag).cast(),
                milliseconds,
                0,
                WT_EXECUTEINTIMERTHREAD | WT_EXECUTEONLYONCE,
            )
        };
        if made == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self { handle })
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // INVALID_HANDLE_VALUE makes the call wait for a callback that is running.
        // SAFETY: the timer was made by us in the default queue and is deleted once, not from its callback.
        unsafe { DeleteTimerQueueTimer(std::ptr::null_mut(), self.handle, INVALID_HANDLE_VALUE) };
    }
}

unsafe extern "system" fn clear_flag(flag: *mut c_void, _fired: bool) {
    // SAFETY: `arm` is the only place that registers this callback, and it passes a `&'static AtomicBool`.
    unsafe { &*flag.cast::<AtomicBool>() }.store(false, Ordering::Relaxed);
}

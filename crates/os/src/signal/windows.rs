//! Console control events: Ctrl-C, Ctrl-Break, a closing console, the end of the session.
//!
//! The system calls the handler in a thread of its own, so it may wait and set events. The commands are in console
//! groups of their own, which Ctrl-C does not reach, and in jobs that end with us.
#![expect(unsafe_code, reason = "control events are taken over by raw calls")]

use std::io;
use std::ptr::null;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::time::Duration;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Threading::{CreateEventW, ExitProcess, SetEvent, WaitForSingleObject};

use super::{EXIT_INTERRUPTED, interrupted, note};

/// The event that the first interrupt sets for good; null before [`install`].
static WAKE: AtomicPtr<core::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());

static INSTALL: Once = Once::new();

/// Takes over the console's control events.
///
/// # Errors
/// The system has no handles left, or refuses the handler.
pub fn install() -> io::Result<()> {
    let mut result = Ok(());
    INSTALL.call_once(|| result = install_once());
    result
}

fn install_once() -> io::Result<()> {
    // SAFETY: no attributes and no name; it stays set once it is.
    let event = unsafe { CreateEventW(null(), 1, 0, null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    WAKE.store(event, SeqCst);
    // SAFETY: the handler lives as long as the program.
    if unsafe { SetConsoleCtrlHandler(Some(on_event), 1) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The event that is set by the first interrupt, or null without [`install`].
pub(crate) fn wake_handle() -> HANDLE {
    WAKE.load(SeqCst)
}

/// Sleeps for `duration`, or until an interrupt. True when it was interrupted.
pub fn sleep(duration: Duration) -> bool {
    let event = wake_handle();
    if event.is_null() {
        std::thread::sleep(duration);
    } else {
        let milliseconds = u32::try_from(duration.as_micros().div_ceil(1000)).unwrap_or(u32::MAX - 1);
        // SAFETY: the event is never closed.
        unsafe { WaitForSingleObject(event, milliseconds) };
    }
    interrupted()
}

unsafe extern "system" fn on_event(event: u32) -> i32 {
    if note() {
        // Our handles close with us, and with the last handle of a job its members end.
        // SAFETY: ends the process; nothing is to be saved that was not saved at the first interrupt.
        unsafe { ExitProcess(EXIT_INTERRUPTED.cast_unsigned()) };
    }
    // SAFETY: the event is never closed.
    unsafe { SetEvent(wake_handle()) };
    if !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        // The console closes or the session ends: the system ends us when this returns, and after some seconds
        // in any case. Those are for putting things in order; the main thread ends us when it has.
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    }
    1
}

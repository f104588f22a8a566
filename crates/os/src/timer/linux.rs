//! Linux: a POSIX timer whose signal goes to the arming thread (timer_create(2), `SIGEV_THREAD_ID`).

#![expect(
    unsafe_code,
    reason = "POSIX timers and signal handlers have no safe wrapper in the standard library"
)]

use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Timer {
    id: libc::timer_t,
}

impl Timer {
    pub(super) fn arm(flag: &'static AtomicBool, after: Duration) -> io::Result<Self> {
        let signal = install_handler()?;
        // SAFETY: sigevent is plain data for which all zeros is a valid value.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_value.sival_ptr = std::ptr::from_ref(flag).cast_mut().cast();
        // SAFETY: gettid has no preconditions.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };

        let mut id: libc::timer_t = std::ptr::null_mut();
        // SAFETY: both pointers are valid for the call; the handler for the signal is in place.
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let timer = Self { id };
        let time = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: after.subsec_nanos().into(),
            },
        };
        // SAFETY: the timer exists and `time` is a valid itimerspec; the old value is not asked for.
        if unsafe { libc::timer_settime(timer.id, 0, &raw const time, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // A signal that is already pending for this thread is delivered when this call returns, so nothing can arrive later.
        // SAFETY: the timer was created by us and is deleted once.
        unsafe { libc::timer_delete(self.id) };
    }
}

extern "C" fn clear_flag(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let info = unsafe { &*info };
    // Anybody may send us the signal; only our timers carry a pointer.
    if info.si_code != libc::SI_TIMER {
        return;
    }
    // SAFETY: si_value is set for signals of timers, by the check above.
    let flag = unsafe { info.si_value().sival_ptr }.cast::<AtomicBool>();
    // SAFETY: `arm` is the only place that makes timers with this signal, and it stores a `&'static AtomicBool`.
    unsafe { &*flag }.store(false, Ordering::Relaxed);
}

/// Installs the handler once a process and returns the signal it listens to.
///
/// A real-time signal, because nothing has a standing use for it and its default (ending the process) shows mistakes.
fn install_handler() -> io::Result<libc::c_int> {
    static INSTALLED: OnceLock<Result<libc::c_int, i32>> = OnceLock::new();
    INSTALLED
        .get_or_init(|| {
            let signal = libc::SIGRTMIN() + 7;
            // SAFETY: sigaction is plain data for which all zeros is a valid value (no flags, empty mask).
            let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            action.sa_sigaction = clear_flag as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            // SAFETY: `action` is valid and its handler is async-signal-safe: it stores to one atomic.
            match unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } {
                0 => Ok(signal),
                _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
            }
        })
        .map_err(io::Error::from_raw_os_error)
}

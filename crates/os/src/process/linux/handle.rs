//! A handle of a process, which never means another one, and the end of that process when its time has come.
#![expect(unsafe_code, reason = "pidfd_open and pidfd_send_signal are raw calls")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::ptrace::check;
use crate::signal;

/// How often the time and interrupts are looked at.
const TICK: Duration = Duration::from_millis(10);

/// A process, by a descriptor (pidfd_open(2)): its number may be given to another one as soon as it is reaped.
#[derive(Clone, Debug)]
pub struct Handle(Arc<OwnedFd>);

impl Handle {
    /// Of a child that has not been reaped.
    ///
    /// # Errors
    /// When there is no descriptor left, or the kernel is older than 5.3.
    pub fn open(process: i32) -> io::Result<Self> {
        // SAFETY: numbers only.
        let answer = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
        check(answer)?;
        let descriptor = i32::try_from(answer).map_err(io::Error::other)?;
        // SAFETY: the kernel has just made it for us.
        Ok(Self(Arc::new(unsafe { OwnedFd::from_raw_fd(descriptor) })))
    }

    /// Ends the process without appeal; nothing happens when it is gone.
    pub fn kill(&self) {
        // SAFETY: the descriptor is ours; without further information the third argument is null.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.0.as_raw_fd(),
                libc::SIGKILL,
                0,
                0,
            )
        };
    }
}

/// Ends a process at its time limit or at an interrupt, as long as it is not dropped.
#[derive(Debug)]
pub struct Watchdog {
    timed_out: Arc<AtomicBool>,
    /// Closed when dropped.
    _over: Sender<()>,
}

impl Watchdog {
    /// Watches from now on.
    ///
    /// # Errors
    /// When there is no room for another thread.
    pub fn new(handle: Handle, limit: Option<Duration>) -> io::Result<Self> {
        // A limit beyond what the clock can count is none.
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let timed_out = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&timed_out);
        let (over, end) = mpsc::channel::<()>();
        thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || {
                while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    let late = until.is_some_and(|until| Instant::now() >= until);
                    if late || signal::interrupted() {
                        told.store(late, SeqCst);
                        handle.kill();
                    }
                }
            })?;
        Ok(Self {
            timed_out,
            _over: over,
        })
    }

    /// Whether it ended the process for its time limit.
    pub fn timed_out(&self) -> bool {
        self.timed_out.load(SeqCst)
    }
}

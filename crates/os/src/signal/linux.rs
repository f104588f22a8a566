//! SIGINT, SIGTERM and SIGHUP.
//!
//! The handler may only do what is safe at any point of the program: atomics, write(2), shutdown(2), poll(2),
//! _exit(2). Whoever waits polls a pipe that the first signal fills and that nobody empties.
#![expect(unsafe_code, reason = "signal handlers are installed by raw calls")]

use std::io;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::{EXIT_INTERRUPTED, interrupted, note};

/// How long the second interrupt waits for the launchers to end their commands.
const LAST_WAIT_MS: i32 = 2000;

/// The end of the pipe that becomes readable; -1 before [`install`].
static WAKE_READ: AtomicI32 = AtomicI32::new(-1);
static WAKE_WRITE: AtomicI32 = AtomicI32::new(-1);

/// Sockets of the launchers that are running; -1 is a free place. One launcher is the rule, a few are used by
/// tests. One that finds no place still notices our end, only we do not wait for it.
static LAUNCHERS: [AtomicI32; 16] = [const { AtomicI32::new(-1) }; 16];

static INSTALL: Once = Once::new();

/// Takes over SIGINT, SIGTERM and SIGHUP, except those that are ignored.
///
/// # Errors
/// The system has no descriptors left for the pipe, or refuses the handler.
pub fn install() -> io::Result<()> {
    let mut result = Ok(());
    INSTALL.call_once(|| result = install_once());
    result
}

fn install_once() -> io::Result<()> {
    let (read, write) = io::pipe()?;
    // Both stay open for the rest of the process's life: the handler may come at any time.
    WAKE_READ.store(read.into_raw_fd(), SeqCst);
    WAKE_WRITE.store(write.into_raw_fd(), SeqCst);
    // A limit of file sizes is then an error of the write, like a full disk. Commands get the default back.
    // SAFETY: ignoring a signal installs no code.
    if unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: zero is a valid value of every field of this C structure.
        let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null new action only asks; `old` is ours to be written.
        if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut old) } != 0 {
            return Err(io::Error::last_os_error());
        }
        if old.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        let mut action = old;
        action.sa_sigaction = on_signal as *const () as usize;
        // Reads and writes elsewhere go on; waits are woken by the pipe.
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the handler does only what is safe in one; the mask in `action` is the one that was set.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The descriptor that becomes readable with the first interrupt, or -1 without [`install`].
pub(crate) fn wake_descriptor() -> RawFd {
    WAKE_READ.load(SeqCst)
}

/// Notes a launcher that the second interrupt is to cut off.
pub(crate) fn register_launcher(socket: RawFd) {
    let _ = LAUNCHERS
        .iter()
        .find(|place| place.compare_exchange(-1, socket, SeqCst, SeqCst).is_ok());
}

/// Forgets a launcher; to be called before its socket is closed.
pub(crate) fn forget_launcher(socket: RawFd) {
    let _ = LAUNCHERS
        .iter()
        .find(|place| place.compare_exchange(socket, -1, SeqCst, SeqCst).is_ok());
}

/// Sleeps for `duration`, or until an interrupt. True when it was interrupted.
pub fn sleep(duration: Duration) -> bool {
    let until = Instant::now() + duration;
    while !interrupted() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let mut poll = libc::pollfd {
            fd: wake_descriptor(),
            events: libc::POLLIN,
            revents: 0,
        };
        let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX).max(1);
        // SAFETY: one live structure, as announced.
        unsafe { libc::poll(&raw mut poll, 1, milliseconds) };
    }
    interrupted()
}

extern "C" fn on_signal(_signal: libc::c_int) {
    // SAFETY: no arguments; the answer is valid in this thread.
    let location = unsafe { libc::__errno_location() };
    // SAFETY: as just said.
    let errno = unsafe { location.read() };
    if note() {
        cut_off();
    }
    // SAFETY: one byte from a live array. A full pipe, which cannot be, would be readable all the same.
    unsafe { libc::write(WAKE_WRITE.load(SeqCst), b"!".as_ptr().cast(), 1) };
    // SAFETY: as above; the interrupted code must find the value that it left.
    unsafe { location.write(errno) };
}

/// Closes our side of every launcher's socket, waits until they are gone, and ends the process.
fn cut_off() -> ! {
    let mut polls = [const {
        libc::pollfd {
            fd: -1,
            events: 0,
            revents: 0,
        }
    }; LAUNCHERS.len()];
    for (poll, place) in polls.iter_mut().zip(&LAUNCHERS) {
        poll.fd = place.load(SeqCst);
        if poll.fd >= 0 {
            // SAFETY: a number, which at worst names a descriptor that is no socket.
            unsafe { libc::shutdown(poll.fd, libc::SHUT_WR) };
        }
    }
    // One by one: each is gone when its end of the socket hangs up.
    for poll in polls.iter_mut().filter(|poll| poll.fd >= 0) {
        // SAFETY: one live structure, as announced.
        unsafe { libc::poll(poll, 1, LAST_WAIT_MS) };
    }
    // SAFETY: ends the process without running anything else.
    unsafe { libc::_exit(EXIT_INTERRUPTED) }
}

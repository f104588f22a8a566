//! Being interrupted without leaving a mess.
//!
//! Ctrl-C, a service manager's SIGTERM and a closing terminal come at any moment. The first of them is a
//! request: a flag is set, whoever waits is woken, runs that are going on end with everything they started,
//! and `underhood` has time to store what it measured. The second is an order: the launchers are cut off,
//! which makes them end all commands by SIGKILL, and the process ends at once with code 130.
//!
//! Contract of `linux.rs` and `windows.rs`:
//!
//! - [`install`]: takes over the interrupts, once; calling it again does nothing.
//! - [`interrupted`]: whether one has come since. It stays true.
//! - [`sleep`]: waits, but not beyond an interrupt.
//!
//! A signal that was ignored when we started stays ignored (`nohup`, background jobs of a shell script).
//! SIGPIPE stays as the Rust run time leaves it, ignored: a write to a closed pipe is an error that the writer
//! sees and can end on, with its results stored and its children gone. Commands get the default back.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

#[cfg(windows)]
pub(crate) use imp::wake_handle;
#[cfg(target_os = "linux")]
pub(crate) use imp::{forget_launcher, register_launcher, wake_descriptor};
pub use imp::{install, sleep};

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The exit code of an interrupted process.
pub const EXIT_INTERRUPTED: i32 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt has come since [`install`].
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(SeqCst)
}

/// Notes an interrupt; true when it is not the first one. Called from a signal handler.
fn note() -> bool {
    INTERRUPTED.swap(true, SeqCst)
}

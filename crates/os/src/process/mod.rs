//! Starting commands, accounting for them exactly, leaving nothing behind.
//!
//! A command is somebody else's program. What it costs is to be told to the microsecond, whatever size we
//! have ourselves, and when it is over nothing of it may be left: no daemon, no zombie, no descriptor, not
//! after a timeout, not after Ctrl-C, not when we are killed.
//!
//! The contract that `linux/` and `windows/` fulfil:
//!
//! - [`Launcher::start`] prepares once what all runs share. On Linux that is the launcher program
//!   (`crates/launcher` explains why a program of its own), on Windows a completion port for its jobs.
//! - [`Launcher::run`] starts a command, waits until it is gone, ends whatever it left running, and returns
//!   what the command cost. The wall time is the life of the command itself: from just before its exec (Linux) or
//!   just before the system is asked to make the process (Windows) to the notification that it is gone. Ending what it left is outside.
//! - The command is not attached to our terminal's signals. On Linux it runs in a session without a
//!   controlling terminal and in a process group of its own: Ctrl-C reaches us, and we decide. It can still
//!   read from and write to a terminal that it inherits as a standard stream; only `/dev/tty` cannot be opened.
//! - It starts with default signal dispositions, no blocked signals and no descriptors beyond the three
//!   standard streams.
//! - A time limit, an interrupt ([`crate::signal`]) or the end of the launcher ends the whole tree: a request to
//!   end (SIGTERM; Windows has none for programs without a console window), then after
//!   [`Spec::grace`] the end without appeal (SIGKILL; the job is terminated).
//! - [`observe`] runs a command once under the system's debugging interface, untimed, and tells which
//!   programs and libraries were really in its processes and how many threads they made.
//! - [`visit`] does the same and also tells when the command itself reached a place in each program that it became; it can end
//!   the command there.
//! - [`Standing::start`] holds a command where its libraries are loaded and relocated and none of its code has run, to look into its
//!   memory; Linux only.
//!
//! Figures that a system does not give are `None`; [`Launcher::support`] has the reasons.

mod error;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod imp;
mod observation;
mod outcome;
mod plain;
mod search;
mod spec;
mod standing;
mod visit;

/// Whether a process with this number exists, as far as this user can see.
#[must_use]
pub fn exists(pid: u32) -> bool {
    imp::exists(pid)
}

pub use error::LaunchError;
pub use imp::{Launcher, Standing, observe, visit};
pub use observation::{Observation, ObservedProcess};
pub use outcome::{End, Outcome, Usage};
pub use plain::time_to_exit;
pub use spec::{Sink, Spec, Stdin};
pub use standing::{LinkedObject, MappedRange};
pub use visit::{Arrival, Memory, Place, Visit};

/// Whose the memory of a process is (Linux: proc_pid_smaps_rollup(5)); `None` where the system does not tell, or of somebody
/// else's process.
#[must_use]
pub fn memory(pid: u32) -> Option<Memory> {
    imp::memory(pid)
}

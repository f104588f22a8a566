//! Becoming another program, and seeing with which environment the running ones were started.
//!
//! A wrapper that stays between a command and its caller costs a process, and has to forward signals, standard streams and
//! the exit status without fault. Where the system can replace a process by another program, there is nothing to
//! forward: the command *is* the process that the caller started.
//!
//! Contract of the platform files: [`become_program`] returns only when the program could not be started. [`started_with`]
//! may overlook processes of other users.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

/// Goes on as another program, with this process's standard streams, working directory and environment; `environment` lists
/// what differs, `None` removes a variable. Signals get their default meaning back.
///
/// Linux: execve(2), the process stays the same. Windows has no such thing: the program runs as a child, and this process ends
/// with its exit code.
///
/// Returns the system's error when the program cannot be started.
pub fn become_program(
    file: &Path,
    name: &OsStr,
    arguments: &[OsString],
    environment: &[(OsString, Option<OsString>)],
) -> io::Error {
    imp::become_program(file, name, arguments, environment)
}

/// The numbers of the running processes, this one excepted, that were started with a variable whose value contains
/// `text`. Linux: `/proc/PID/environ`; Windows shows no process the environment of another.
#[must_use]
pub fn started_with(variable: &str, text: &[u8]) -> Vec<u32> {
    imp::started_with(variable, text)
}

#[cfg(test)]
mod tests;

//! How much memory there is, and a file that holds a bounded amount of someone else's output.
//!
//! A program under test may write without end. Its output must be kept for comparison, without the disk filling
//! up, without a pipe that somebody has to empty (which would be a second process to schedule, inside the measurement),
//! and without the memory being eaten. [`capped_file`] gives such a sink.
//!
//! Contract of the platform files: sizes are bytes; `total` and `available` describe what this process could use,
//! so a container's limit counts; the position of a `capped_file` starts at 0.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::fs::File;
use std::io;

/// The size of a page in bytes: the unit in which memory is handed out and in which faults count.
pub fn page_size() -> usize {
    imp::page_size()
}

/// The memory of the machine, or the limit that this process has been given, whichever is less; `None` if unknown.
pub fn total_bytes() -> Option<u64> {
    imp::total_bytes()
}

/// The memory that could be used now without swapping (Linux `MemAvailable`, proc_meminfo(5)), within the limit that this
/// process has been given; `None` if unknown.
pub fn available_bytes() -> Option<u64> {
    imp::available_bytes()
}

/// Creates a nameless file that takes at most `cap` bytes of output.
///
/// It is meant to become the standard output or error of a program. Linux: it lives in memory, already has `cap` bytes of
/// holes, and is sealed against growing, so a write beyond the cap fails with `EPERM` in the program that
/// writes (memfd_create(2), fcntl(2) `F_SEAL_GROW`). A program that truncates its own output
/// (`>/dev/stdout` in a shell) gets `EPERM` too. Windows: a temporary file, gone when the
/// last handle is closed; **not capped** there, so whoever waits for the program has to watch [`written_len`].
///
/// # Errors
/// The system's error.
pub fn capped_file(cap: u64) -> io::Result<File> {
    imp::capped_file(cap)
}

/// How many bytes have been written to a file made by [`capped_file`], by anyone who shares it.
///
/// # Errors
/// The system's error.
pub fn written_len(file: &File) -> io::Result<u64> {
    imp::written_len(file)
}

#[cfg(test)]
mod tests;

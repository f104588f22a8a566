//! What of a file is in memory already.
//!
//! A program that was started before starts faster, because its files need not be read from storage again. To time the
//! first start, its files are put out of the page cache.
//!
//! Contract of the platform files: [`evict`] changes no content. Pages that some process has mapped stay, and [`resident`]
//! tells how much that is.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::io;
use std::path::Path;

use crate::Unsupported;

/// Puts a file out of memory as far as nobody has it mapped (Linux: posix_fadvise(2) with `POSIX_FADV_DONTNEED`, after what
/// was written has reached storage).
///
/// # Errors
/// The system's error: the file cannot be opened for reading.
pub fn evict(file: &Path) -> io::Result<()> {
    imp::evict(file)
}

/// How many bytes of a file are in memory, in whole pages (Linux: mincore(2), which tells it only of files that one owns or may
/// write).
///
/// # Errors
/// The system's error: the file cannot be opened or mapped.
pub fn resident(file: &Path) -> io::Result<u64> {
    imp::resident(file)
}

/// Whether files can be put out of memory here.
///
/// # Errors
/// The reason why not.
pub fn support() -> Result<(), Unsupported> {
    imp::support()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

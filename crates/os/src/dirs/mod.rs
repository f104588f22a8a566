//! Where a program may keep its files, by the rules of each system.
//!
//! Linux: the XDG Base Directory Specification. Windows: the user's local application data. Results of measurements are data,
//! unpacked helper programs are cache (they can be made again), sockets and scratch files are temporary. All of
//! them are made for the user alone: a helper program that others can replace would run with our rights.
//!
//! Contract of the platform files: the `*_path` functions only find the place; `make_private` makes a folder that
//! nobody else can write to, or refuses one that others could.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::io;
use std::path::{Path, PathBuf};

/// The folder for what must be kept: runs. Made if it is not there.
///
/// Linux: `$XDG_DATA_HOME/underhood`, by default `~/.local/share/underhood`. Windows: `%LOCALAPPDATA%\Underhood\data`.
///
/// # Errors
/// `NotFound` if the user has no home, or the system's error when the folder cannot be made.
pub fn data_dir() -> io::Result<PathBuf> {
    made(imp::data_path()?)
}

/// The folder for what can be made again: unpacked programs and libraries. Made if it is not there.
///
/// Linux: `$XDG_CACHE_HOME/underhood`, by default `~/.cache/underhood`. Windows: `%LOCALAPPDATA%\Underhood\cache`.
///
/// # Errors
/// As [`data_dir`].
pub fn cache_dir() -> io::Result<PathBuf> {
    made(imp::cache_path()?)
}

/// The folder for what lives no longer than this session: sockets, scratch files. Made if it is not there.
///
/// Linux: `$XDG_RUNTIME_DIR/underhood`; without it a folder of the user's own in `$TMPDIR` or `/tmp`. Windows: a folder in `%TEMP%`.
///
/// # Errors
/// As [`data_dir`], and `PermissionDenied` if somebody else made the folder first.
pub fn runtime_dir() -> io::Result<PathBuf> {
    made(imp::runtime_path()?)
}

/// Makes a folder, and the folders above it that are missing, for this user alone (mode 0700; on Windows the rights of the
/// user's own profile apply). A folder that is there already is accepted only if it is ours and nobody else can write
/// to it.
///
/// # Errors
/// `PermissionDenied` with the reason if it belongs to somebody else or others can write to it; the system's error otherwise.
pub fn make_private(folder: &Path) -> io::Result<()> {
    imp::make_private(folder)
}

fn made(folder: PathBuf) -> io::Result<PathBuf> {
    make_private(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests;

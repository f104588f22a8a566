//! Changing files of the system so that the change can be taken back.
//!
//! A file such as `/etc/ld.so.preload` is read at the start of every program: half of it must never be there, its owner
//! and mode must survive, and who takes the change back must find the file as it was. The standard library
//! replaces a file's content only in place and knows no owners.
//!
//! Contract of the platform files: [`attributes`] reads what [`write()`] sets. [`write()`] makes the file appear whole
//! or not at all, also after a power cut. Where a system has no modes or owners of this kind, they read as zero and are
//! not set.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// Who may do what with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The permission bits with set-user-id, set-group-id and sticky, inode(7).
    pub mode: u32,
    /// Its owner's number.
    pub user: u32,
    /// Its group's number.
    pub group: u32,
}

/// The attributes of a file.
#[must_use]
pub fn attributes(metadata: &Metadata) -> Attributes {
    imp::attributes(metadata)
}

/// What tells a file from all others on this machine: device and number. Two names of one file give the same. Where a system
/// does not tell (Windows), a number made of the resolved path.
///
/// # Errors
/// The system's error.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    imp::identity(path)
}

/// By what it is noticed that a file is another one or has changed. Following links, so a link that leads elsewhere
/// counts as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the device that it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last changed: seconds since 1970.
    pub seconds: i64,
    /// And nanoseconds.
    pub nanoseconds: u32,
}

/// The stamp of a file. Where a system has no inodes (Windows), the number is made of the resolved path.
///
/// # Errors
/// The system's error.
pub fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = std::fs::metadata(path)?;
    let (device, inode) = imp::identity(path)?;
    let (seconds, nanoseconds) = imp::modified(&metadata)?;
    Ok(Stamp {
        device,
        inode,
        size: metadata.len(),
        seconds,
        nanoseconds,
    })
}

/// The attributes that a new file of ours gets: this mode whatever the umask says, and this process's owner and group.
#[must_use]
pub fn own_attributes(mode: u32) -> Attributes {
    imp::own_attributes(mode)
}

/// Makes `path` a file with this content and these attributes. What was there before is replaced in one step; a
/// program that has it open or mapped keeps the old one. Its folder must exist.
///
/// # Errors
/// The system's error; nothing has changed then, and nothing is left beside it.
pub fn write(path: &Path, content: &[u8], attributes: Attributes) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(
        ".underhood-{}-{:08x}",
        std::process::id(),
        fastrand::u32(..)
    ));
    let beside = folder.join(name);
    let written = imp::write_new(&beside, content, attributes).and_then(|()| std::fs::rename(&beside, path));
    if let Err(error) = written {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&beside);
        return Err(error);
    }
    imp::sync_folder(folder)
}

/// Creates a folder and those above it with this mode whatever the umask says, and returns the ones that were missing,
/// the outermost first.
///
/// # Errors
/// The system's error; those that were already created stay.
pub fn create_folders(folder: &Path, mode: u32) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|ancestor| !ancestor.exists())
        .collect();
    missing.retain(|ancestor| !ancestor.as_os_str().is_empty());
    missing.reverse();
    for folder in &missing {
        imp::create_folder(folder, mode)?;
    }
    Ok(missing.into_iter().map(Path::to_owned).collect())
}

#[cfg(test)]
mod tests;

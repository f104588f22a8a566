//! Linux: the XDG Base Directory Specification, and folders of mode 0700.

#![expect(unsafe_code, reason = "asking for the user's identity has no safe wrapper")]

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const NAME: &str = "underhood";

pub(super) fn data_path() -> io::Result<PathBuf> {
    below("XDG_DATA_HOME", ".local/share")
}

pub(super) fn cache_path() -> io::Result<PathBuf> {
    below("XDG_CACHE_HOME", ".cache")
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that makes a private folder in the shared one"
)]
pub(super) fn runtime_path() -> io::Result<PathBuf> {
    Ok(match absolute("XDG_RUNTIME_DIR") {
        Some(folder) => folder.join(NAME),
        // The place is shared, so the name says whose it is.
        None => env::temp_dir().join(format!("{NAME}-{}", user())),
    })
}

fn below(variable: &str, default: &str) -> io::Result<PathBuf> {
    let home = || absolute("HOME").map(|home| home.join(default));
    let folder = absolute(variable).or_else(home).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("neither {variable} nor HOME names a folder; set one of them"),
        )
    })?;
    Ok(folder.join(NAME))
}

/// The specification says that relative paths are to be ignored.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Without following a link: in a shared place somebody could have laid one to a folder of ours.
    let metadata = fs::symlink_metadata(folder)?;
    let refuse = |why| {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} {why}", folder.display()),
        ))
    };
    if metadata.file_type().is_symlink() {
        refuse("is a symbolic link; name the folder itself")
    } else if metadata.uid() != user() {
        refuse("belongs to another user; choose another folder")
    } else if metadata.mode() & 0o022 != 0 {
        refuse("can be written by others; `chmod go-w` would close it")
    } else {
        Ok(())
    }
}

fn user() -> u32 {
    // SAFETY: no preconditions, cannot fail.
    unsafe { libc::geteuid() }
}

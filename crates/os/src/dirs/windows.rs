//! Windows: the user's local application data, which only the user and administrators can reach.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "Underhood";

pub(super) fn data_path() -> io::Result<PathBuf> {
    Ok(local()?.join("data"))
}

pub(super) fn cache_path() -> io::Result<PathBuf> {
    Ok(local()?.join("cache"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "Windows gives every user a folder for temporary files of its own"
)]
pub(super) fn runtime_path() -> io::Result<PathBuf> {
    Ok(env::temp_dir().join(NAME))
}

fn local() -> io::Result<PathBuf> {
    let folder = env::var_os("LOCALAPPDATA")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let missing = || io::Error::new(io::ErrorKind::NotFound, "LOCALAPPDATA names no folder; set it");
    Ok(folder.ok_or_else(missing)?.join(NAME))
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    // New folders take over the rights of the one above.
    fs::create_dir_all(folder)
}

use std::fs::{Metadata, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;

use super::Attributes;

pub fn attributes(_: &Metadata) -> Attributes {
    own_attributes(0)
}

pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let mut hasher = DefaultHasher::new();
    path.canonicalize()?.hash(&mut hasher);
    Ok((0, hasher.finish()))
}

pub fn modified(metadata: &Metadata) -> io::Result<(i64, u32)> {
    let since = metadata.modified()?.duration_since(std::time::UNIX_EPOCH);
    let since = since.map_err(io::Error::other)?;
    let seconds = i64::try_from(since.as_secs()).map_err(io::Error::other)?;
    Ok((seconds, since.subsec_nanos()))
}

pub fn own_attributes(_: u32) -> Attributes {
    Attributes {
        mode: 0,
        user: 0,
        group: 0,
    }
}

pub fn write_new(path: &Path, content: &[u8], _: Attributes) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

pub fn sync_folder(_: &Path) -> io::Result<()> {
    // Renames are part of the journal there, and a folder cannot be opened for syncing.
    Ok(())
}

pub fn create_folder(folder: &Path, _: u32) -> io::Result<()> {
    std::fs::create_dir(folder)
}

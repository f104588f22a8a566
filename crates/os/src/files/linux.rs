use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use super::Attributes;

const MODE_BITS: u32 = 0o7777;

pub fn attributes(metadata: &Metadata) -> Attributes {
    Attributes {
        mode: metadata.mode() & MODE_BITS,
        user: metadata.uid(),
        group: metadata.gid(),
    }
}

pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

pub fn modified(metadata: &Metadata) -> io::Result<(i64, u32)> {
    let nanoseconds = u32::try_from(metadata.mtime_nsec()).map_err(io::Error::other)?;
    Ok((metadata.mtime(), nanoseconds))
}

pub fn own_attributes(mode: u32) -> Attributes {
    // The owner of /proc/self is the user and group that files are created with, proc(5).
    let own = std::fs::metadata("/proc/self").map_or((0, 0), |metadata| (metadata.uid(), metadata.gid()));
    Attributes {
        mode,
        user: own.0,
        group: own.1,
    }
}

pub fn write_new(path: &Path, content: &[u8], attributes: Attributes) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (attributes.user, attributes.group) {
        fchown(&file, Some(attributes.user), Some(attributes.group))?;
    }
    // After the owner: a change of owner clears set-user-id, chown(2).
    file.set_permissions(Permissions::from_mode(attributes.mode))?;
    file.sync_all()
}

pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub fn create_folder(folder: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(mode))
}

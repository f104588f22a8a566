//! Making sure that one file is there, whole, ours and executable.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use os::files::{Attributes, attributes, own_attributes, write};

/// Nobody but the owner has a use for it, and even the owner has none for changing it.
const MODE: u32 = 0o500;

/// Nobody takes this long to write a few megabytes.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Makes `path` hold exactly `bytes`, and be executable. Its folder must exist, and be for this file alone.
///
/// A right file is left alone. Any other is replaced in one step: a program that runs from the old one
/// keeps it, and of several processes that do this at once the last wins with the same content.
pub(crate) fn ensure(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let ours = own_attributes(MODE);
    if holds(path, bytes, ours) {
        return Ok(());
    }
    remove_abandoned(path);
    write(path, bytes, ours)
}

/// Whether `path` is a file (no link) with exactly these bytes, owner and mode. Unreadable counts as no.
fn holds(path: &Path, bytes: &[u8], ours: Attributes) -> bool {
    let plausible = fs::symlink_metadata(path).is_ok_and(|metadata| {
        let there = attributes(&metadata);
        metadata.is_file()
            && metadata.len() == bytes.len() as u64
            && (there.mode, there.user) == (ours.mode, ours.user)
    });
    if !plausible {
        return false;
    }
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut rest = bytes;
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block) {
            Ok(0) => return rest.is_empty(),
            Ok(n) => match block.get(..n).and_then(|read| rest.strip_prefix(read)) {
                Some(left) => rest = left,
                None => return false,
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// Removes what writers left that were killed in the middle: in this folder everything else that is old.
fn remove_abandoned(path: &Path) {
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else {
        return;
    };
    for entry in entries.flatten() {
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .map(|at| at.elapsed().unwrap_or_default());
        if entry.path() != path && age.is_ok_and(|age| age > ABANDONED_AFTER) {
            // Another process may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

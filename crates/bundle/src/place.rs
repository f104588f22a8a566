//! Writing one file so that nobody ever sees half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::folder;

/// Files under this prefix are being written, or were when their writer was killed.
const UNFINISHED: &str = ".unfinished-";

/// Nobody takes this long to write a few megabytes.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Makes `path` hold exactly `bytes`, and be executable. Its folder must exist.
///
/// A right file is left alone. Any other is replaced by a rename: a program that runs from the old one
/// keeps it, and of several processes that do this at once the last wins with the same content.
pub(crate) fn ensure(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if holds(path, bytes) {
        return Ok(());
    }
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    remove_abandoned(folder);
    let unfinished = folder.join(format!(
        "{UNFINISHED}{}-{:016x}",
        std::process::id(),
        fastrand::u64(..)
    ));
    let done = write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    if let Err(error) = done {
        // The first error is the one to report; what is left is removed by a later call.
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    folder_synced(folder)
}

/// Whether `path` is an executable file (no link) with exactly these bytes. Unreadable counts as no.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let plausible = fs::symlink_metadata(path)
        .is_ok_and(|m| m.is_file() && m.len() == bytes.len() as u64 && folder::is_executable(&m));
    if !plausible {
        return false;
    }
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut rest = bytes;
    let mut block = [0; 1 << 16];
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

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    folder::executable(&mut options);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the rename itself survive a power cut, where a folder can be opened for that.
fn folder_synced(folder: &Path) -> io::Result<()> {
    File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
}

fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .map(|at| at.elapsed().unwrap_or_default());
        if ours && age.is_ok_and(|age| age > ABANDONED_AFTER) {
            // Another process may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

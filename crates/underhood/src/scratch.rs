//! Temporary folders with large content, which must not stay even when we are killed.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// How the names begin; the number of the process that uses the folder follows.
const PREFIX: &str = "underhood-scratch-";

/// A folder in `parent` that is removed when the result is dropped. Folders that killed processes of ours have left there are
/// removed first.
pub fn folder(parent: &Path) -> io::Result<TempDir> {
    sweep(parent);
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .tempdir_in(parent)
}

/// Whoever owned them is gone; what cannot be removed is somebody else's.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
            .and_then(|(pid, _)| pid.parse::<u32>().ok());
        // The type of the entry itself: a link is not followed.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if owner.is_some_and(|pid| is_folder && !os::process::exists(pid)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_removed_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        // Process numbers end well below this on every system.
        let dead = parent.path().join(format!("{PREFIX}4294967290-abc"));
        let living = parent.path().join(format!("{PREFIX}{}-abc", std::process::id()));
        let other = parent.path().join("underhood-scratch-notes");
        for folder in [&dead, &living, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("file"), "text").unwrap();
        }
        let ours = folder(parent.path()).unwrap();
        assert!(!dead.exists() && living.exists() && other.exists());
        let path = ours.path().to_owned();
        drop(ours);
        assert!(!path.exists());
    }
}

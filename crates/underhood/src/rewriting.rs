//! Changing finished files in place so that the change can be taken back.
//!
//! The original keeps its inode, and with it content, times, owner and mode: it gets another name beside the file,
//! `FILE.underhood-original-HASH`, then the new content takes its place in one step. The hash is that of the new content, so
//! that an original is put back only where our change still stands.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::apply::state::digest;
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure};

const MARK: &str = ".underhood-original-";

/// Digits of the hash in a name.
const DIGITS: usize = 16;

/// A file that is to get new content.
#[derive(Clone, Debug)]
pub struct Change {
    /// The file, not a link.
    pub path: PathBuf,
    /// Its new content.
    pub content: Vec<u8>,
}

/// Where the changed files go.
#[derive(Clone, Debug)]
pub enum Target {
    /// Into this folder, under their names.
    Folder(PathBuf),
    /// Where they are. `keep` says that the originals are kept.
    Place {
        /// Whether the originals are kept.
        keep: bool,
    },
    /// Nowhere.
    Nowhere,
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(COMMAND_FAILED, format!("{what} {}: {error}", path.display()))
}

/// Writes all files or none. For each where it was written and where its original is kept.
pub fn write(changes: &[Change], target: &Target) -> Result<Vec<(PathBuf, Option<PathBuf>)>, Failure> {
    match target {
        Target::Nowhere => Ok(changes.iter().map(|change| (change.path.clone(), None)).collect()),
        Target::Folder(folder) => {
            fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
            changes
                .iter()
                .map(|change| Ok((beside(change, folder)?, None)))
                .collect()
        }
        Target::Place { keep } => {
            let mut done = Vec::new();
            for change in changes {
                match in_place(change, *keep) {
                    Ok(step) => done.push(step),
                    Err(failure) => {
                        // What cannot be taken back has its original beside it.
                        done.iter().for_each(Step::take_back);
                        return Err(failure);
                    }
                }
            }
            Ok(done.into_iter().map(|step| (step.path, step.kept)).collect())
        }
    }
}

/// A file that was changed, and how it was before.
struct Step {
    path: PathBuf,
    before: Vec<u8>,
    /// Where the original is kept now, and where it was kept before, if it had been changed by us already.
    kept: Option<PathBuf>,
    earlier: Option<PathBuf>,
}

impl Step {
    fn take_back(&self) {
        let _ = match (&self.kept, &self.earlier) {
            (Some(kept), None) => fs::rename(kept, &self.path),
            (kept, earlier) => {
                let attributes = fs::metadata(&self.path).map(|metadata| os::files::attributes(&metadata));
                if let (Some(kept), Some(earlier)) = (kept, earlier) {
                    let _ = fs::rename(kept, earlier);
                }
                attributes.and_then(|attributes| os::files::write(&self.path, &self.before, attributes))
            }
        };
    }
}

fn beside(change: &Change, folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(change.path.file_name().unwrap_or_default());
    let attributes = attributes(&change.path)?;
    os::files::write(&path, &change.content, attributes).map_err(|error| failed("write", &path, &error))?;
    Ok(path)
}

fn attributes(path: &Path) -> Result<os::files::Attributes, Failure> {
    let metadata = fs::metadata(path).map_err(|error| failed("read", path, &error))?;
    Ok(os::files::attributes(&metadata))
}

fn in_place(change: &Change, keep: bool) -> Result<Step, Failure> {
    let path = &change.path;
    let before = fs::read(path).map_err(|error| failed("read", path, &error))?;
    let earlier = original(path, &before);
    let mut step = Step {
        path: path.clone(),
        kept: earlier.clone(),
        before,
        earlier,
    };
    if step.before == change.content {
        return Ok(step);
    }
    let attributes = attributes(path)?;
    let kept = named(path, &change.content);
    // Changed by us before: the first original is the one that counts.
    let first = step.earlier.is_none();
    if first && keep {
        keep_original(path, &kept)?;
    }
    if let Err(error) = os::files::write(path, &change.content, attributes) {
        if first && keep {
            let _ = fs::remove_file(&kept);
        }
        return Err(failed("write", path, &error));
    }
    if let Some(earlier) = &step.earlier {
        fs::rename(earlier, &kept).map_err(|error| failed("rename", earlier, &error))?;
    }
    step.kept = (keep || !first).then_some(kept);
    Ok(step)
}

/// A second name for the original; where the file system has no such thing, a copy with its times.
fn keep_original(path: &Path, kept: &Path) -> Result<(), Failure> {
    // Left by one who was killed before the change: the same file, or a copy that nothing leads to.
    let _ = fs::remove_file(kept);
    if fs::hard_link(path, kept).is_ok() {
        return Ok(());
    }
    let copied = fs::copy(path, kept).and_then(|_| {
        let modified = fs::metadata(path)?.modified()?;
        fs::File::options().write(true).open(kept)?.set_modified(modified)
    });
    copied.map_err(|error| {
        let _ = fs::remove_file(kept);
        failed("keep the original of", path, &error)
    })
}

fn named(path: &Path, content: &[u8]) -> PathBuf {
    let digest = digest(content);
    let mut name: OsString = path.file_name().unwrap_or_default().to_owned();
    name.push(MARK);
    name.push(digest.get(..DIGITS).unwrap_or_default());
    path.with_file_name(name)
}

/// The kept original of a file whose content we have written.
fn original(path: &Path, content: &[u8]) -> Option<PathBuf> {
    let kept = named(path, content);
    kept.is_file().then_some(kept)
}

/// Puts the original back. False when the file was never changed by us.
pub fn undo(path: &Path) -> Result<bool, Failure> {
    let content = fs::read(path).map_err(|error| failed("read", path, &error))?;
    if let Some(kept) = original(path, &content) {
        return fs::rename(&kept, path)
            .map(|()| true)
            .map_err(|error| failed("put back", path, &error));
    }
    match others(path).first() {
        None => Ok(false),
        Some(kept) => Err(Failure::new(
            CHECK_FAILED,
            format!(
                "put back the original of {}: somebody else has changed it after underhood; the original from before is {}",
                path.display(),
                kept.display()
            ),
        )),
    }
}

/// Kept originals of a file for content that it has not got now.
fn others(path: &Path) -> Vec<PathBuf> {
    let mut begin = path.file_name().unwrap_or_default().to_owned();
    begin.push(MARK);
    let begin = begin.to_string_lossy().into_owned();
    let entries = path.parent().map(fs::read_dir);
    let entries = entries.into_iter().flatten().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &Path, content: &str) -> Change {
        Change {
            path: path.to_owned(),
            content: content.as_bytes().to_vec(),
        }
    }

    #[test]
    fn the_first_original_comes_back_with_its_times() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dll");
        fs::write(&path, "first").unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        let keep = Target::Place { keep: true };
        write(&[change(&path, "second")], &keep).unwrap();
        let written = write(&[change(&path, "third")], &keep).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read(written[0].1.as_ref().unwrap()).unwrap(), b"first");
        assert!(undo(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(!undo(&path).unwrap());
    }

    #[test]
    fn what_somebody_else_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dll");
        fs::write(&path, "first").unwrap();
        write(&[change(&path, "second")], &Target::Place { keep: true }).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert_eq!(undo(&path).unwrap_err().code, CHECK_FAILED);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn one_that_fails_takes_the_others_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dll");
        fs::write(&path, "first").unwrap();
        let missing = folder.path().join("missing.dll");
        let changes = [change(&path, "second"), change(&missing, "x")];
        assert!(write(&changes, &Target::Place { keep: true }).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

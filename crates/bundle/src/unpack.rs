//! From a name to a path that can be executed or preloaded.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::artifact::{Artifact, Kind, artifacts, find};
use crate::{mount, place};

/// Why a carried file could not be given a path. Reads after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// Nothing with this name is carried on this platform.
    #[error(
        "find {name:?} among what this build carries ({carried}); heaps are carried on Linux with glibc only"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is, separated by commas.
        carried: String,
    },
    /// No folder could take the file.
    #[error(
        "unpack {file}: no folder can hold it:{tried}\n\
         set XDG_CACHE_HOME (on Windows: LOCALAPPDATA) to a folder that is yours, writable, and not mounted noexec"
    )]
    NoPlace {
        /// The file's name.
        file: &'static str,
        /// One line a folder: what is wrong with it.
        tried: String,
    },
}

/// Finds, and makes, a folder that is this user's alone.
type Base<'a> = &'a dyn Fn() -> io::Result<PathBuf>;

/// Makes sure that the carried file `name` exists on disk, whole and safe from others, and returns its path.
///
/// The user's cache folder is tried first, then the folder for temporary files of this
/// session (the cache may be read-only, full, or in a place that the dynamic loader cannot be given). The
/// bytes on disk are compared with the carried ones at every call: ask once, keep the path. Any
/// number of processes may call this at once.
///
/// # Errors
/// [`UnpackError::Unknown`] for a name that is not carried here; [`UnpackError::NoPlace`] when
/// each folder is refused or cannot be written to.
pub fn unpack(name: &str) -> Result<PathBuf, UnpackError> {
    unpack_in(name, &[&os::dirs::cache_dir, &os::dirs::runtime_dir])
}

/// As [`unpack`], but below `base` only; the folder is made for this user alone when it is missing.
///
/// # Errors
/// As [`unpack`].
pub fn unpack_below(base: &Path, name: &str) -> Result<PathBuf, UnpackError> {
    let make = || os::dirs::make_private(base).map(|()| base.to_owned());
    unpack_in(name, &[&make])
}

fn unpack_in(name: &str, bases: &[Base<'_>]) -> Result<PathBuf, UnpackError> {
    let Some(artifact) = find(name) else {
        let carried: Vec<_> = artifacts().iter().map(|artifact| artifact.name).collect();
        return Err(UnpackError::Unknown {
            name: name.to_owned(),
            carried: carried.join(", "),
        });
    };
    let mut tried = String::new();
    for base in bases {
        match unpack_one(artifact, base) {
            Ok(path) => return Ok(path),
            Err(reason) => {
                // Writing to a String cannot fail.
                let _ = write!(tried, "\n  {reason}");
            }
        }
    }
    Err(UnpackError::NoPlace {
        file: artifact.file_name,
        tried,
    })
}

fn unpack_one(artifact: &Artifact, base: Base<'_>) -> io::Result<PathBuf> {
    // Absolute and free of links: the path outlives this working directory, and mounts are found by it.
    let mut folder = base()?.canonicalize()?;
    let unfit = |why: &str| Err(io::Error::other(format!("{} {why}", folder.display())));
    let preloaded = matches!(artifact.kind, Kind::Heap | Kind::Selector);
    if preloaded && folder.to_string_lossy().contains([' ', ':', '\t', '\n']) {
        return unfit(
            "has a blank or a colon in its path, and LD_PRELOAD is a list that is separated by these",
        );
    }
    if mount::is_noexec(&folder) {
        return unfit("is mounted noexec");
    }
    for part in ["bundle", artifact.sha256] {
        folder.push(part);
        os::dirs::make_private(&folder).map_err(|error| with_path(&folder, &error))?;
    }
    let path = folder.join(artifact.file_name);
    place::ensure(&path, artifact.bytes).map_err(|error| with_path(&path, &error))?;
    Ok(path)
}

/// The system's errors do not say which file they are about; ours do.
fn with_path(path: &Path, error: &io::Error) -> io::Error {
    let text = error.to_string();
    let path = path.display().to_string();
    if text.contains(&path) {
        io::Error::new(error.kind(), text)
    } else {
        io::Error::new(error.kind(), format!("{path}: {text}"))
    }
}

//! From a name to a path that can be executed or preloaded.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::artifact::{Artifact, Kind, artifacts, find};
use crate::{folder, place};

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
        /// One line a folder: the path and what is wrong with it.
        tried: String,
    },
}

/// Makes sure that the carried file `name` exists on disk, whole and safe from others, and returns its path.
///
/// The user's cache folder is tried first, then the folder for temporary files of this
/// session (the cache may be read-only, full, or in a place that the dynamic loader cannot be given). The
/// bytes on disk are compared with the carried ones at every call: ask once, keep the path. Any
/// number of processes may call this at once.
///
/// # Errors
///
/// [`UnpackError::Unknown`] for a name that is not carried here; [`UnpackError::NoPlace`] when
/// each folder is refused or cannot be written to.
pub fn unpack(name: &str) -> Result<PathBuf, UnpackError> {
    unpack_in(name, &folder::candidates())
}

/// As [`unpack`], but below `base` only; the folder is created when it is missing.
///
/// # Errors
///
/// As [`unpack`].
pub fn unpack_below(base: &Path, name: &str) -> Result<PathBuf, UnpackError> {
    unpack_in(name, &[base.to_owned()])
}

fn unpack_in(name: &str, bases: &[PathBuf]) -> Result<PathBuf, UnpackError> {
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
                let _ = write!(tried, "\n  {}: {reason}", base.display());
            }
        }
    }
    Err(UnpackError::NoPlace {
        file: artifact.file_name,
        tried,
    })
}

fn unpack_one(artifact: &Artifact, base: &Path) -> Result<PathBuf, String> {
    let preloaded = matches!(artifact.kind, Kind::Heap | Kind::Selector);
    if preloaded && base.to_string_lossy().contains([' ', ':', '\t', '\n']) {
        return Err("the loader separates LD_PRELOAD at blanks and colons, and this path has one".to_owned());
    }
    let folder = folder::private(base, &["bundle", artifact.sha256])?;
    let path = folder.join(artifact.file_name);
    place::ensure(&path, artifact.bytes).map_err(|e| e.to_string())?;
    Ok(path)
}

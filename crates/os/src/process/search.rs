//! Finds the file to execute, by the rules that [`crate::loader`] knows.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::LaunchError;
use crate::loader::{NotFound, find_in_path};

/// The file for `program`, which was asked for in these words; `path` is the value of the command's own `PATH`.
pub fn look_up(program: &Path, path: Option<&OsStr>) -> Result<PathBuf, LaunchError> {
    find_in_path(program.as_os_str(), path).map_err(|error| match error {
        NotFound::Missing { .. } => LaunchError::NotFound {
            program: program.to_owned(),
            searched: is_bare_name(program),
        },
        NotFound::NotExecutable { path, why } => LaunchError::NotExecutable {
            program: path,
            why: why.to_owned(),
        },
    })
}

/// Whether it names a program and no place, so that `PATH` decides.
pub fn is_bare_name(program: &Path) -> bool {
    program.file_name() == Some(program.as_os_str())
}

//! Finds a program the way execvp(3) does.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::{LaunchError, Spec};

/// Where execvp looks when there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file to execute for `spec`.
///
/// A name without a slash is looked up in the `PATH` that the command itself will have. A file there that may
/// not be executed is passed over; it is returned only when nothing else fits, for the system to say why not.
pub fn find(spec: &Spec) -> Result<PathBuf, LaunchError> {
    let program = &spec.program;
    if program.as_os_str().is_empty() {
        return Err(LaunchError::NotFound {
            program: program.clone(),
            searched: false,
        });
    }
    if program.as_os_str().as_bytes().contains(&b'/') {
        // The command's own directory may be another one than ours.
        return match spec.cwd {
            Some(_) => std::path::absolute(program).map_err(LaunchError::Other),
            None => Ok(program.clone()),
        };
    }
    let path = spec
        .env
        .iter()
        .find(|(key, _)| key == "PATH")
        .map(|(_, value)| value.as_os_str());
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut second_best = None;
    for folder in std::env::split_paths(path) {
        // An empty entry stands for the working directory.
        let candidate = Path::new(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &folder
        })
        .join(program);
        match fs::metadata(&candidate) {
            Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => return Ok(candidate),
            Ok(meta) if meta.is_file() => second_best = second_best.or(Some(candidate)),
            _ => {}
        }
    }
    second_best.ok_or_else(|| LaunchError::NotFound {
        program: program.clone(),
        searched: true,
    })
}

//! Finds a program the way execvp(3) does.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::super::search::look_up;
use super::super::{LaunchError, Spec};

/// The file to execute for `spec`.
///
/// A name without a slash is looked up in the `PATH` that the command itself will have. With one it is passed on as
/// it is, because a script sees it as its own name; whether it can be executed the system will say.
pub fn find(spec: &Spec) -> Result<PathBuf, LaunchError> {
    let program = &spec.program;
    if !program.as_os_str().as_bytes().contains(&b'/') {
        let path = spec.env.iter().find(|(key, _)| key == "PATH");
        return look_up(program, path.map(|(_, value)| value.as_os_str()));
    }
    match spec.cwd {
        // The command's directory may be another one than ours, where a relative path starts.
        Some(_) => std::path::absolute(program).map_err(LaunchError::Other),
        None => Ok(program.clone()),
    }
}

//! Finds a program in the folders of the command's `PATH`.
//!
//! CreateProcess could do it, but it would look first beside our own executable and in the working directory,
//! where a stranger may have put a program of the same name, and in our `PATH` instead of the command's.

use std::path::PathBuf;

use super::super::search::{is_bare_name, look_up};
use super::super::{LaunchError, Spec};

/// The file to execute for `spec`, as a complete path.
pub fn find(spec: &Spec) -> Result<PathBuf, LaunchError> {
    if !is_bare_name(&spec.program) {
        let path = std::path::absolute(&spec.program).map_err(|_| LaunchError::NotFound {
            program: spec.program.clone(),
            searched: false,
        })?;
        return look_up(&path, None);
    }
    let path = spec
        .env
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("PATH"));
    let found = look_up(&spec.program, path.map(|(_, value)| value.as_os_str()))?;
    // An entry of `PATH` may be relative.
    std::path::absolute(found).map_err(LaunchError::Other)
}

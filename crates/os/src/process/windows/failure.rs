//! Turns an error code of CreateProcess into something a person can act on.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BAD_EXE_FORMAT, ERROR_COMMITMENT_LIMIT, ERROR_DIRECTORY,
    ERROR_ELEVATION_REQUIRED, ERROR_EXE_MACHINE_TYPE_MISMATCH, ERROR_FILE_NOT_FOUND,
    ERROR_FILENAME_EXCED_RANGE, ERROR_INVALID_NAME, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY,
    ERROR_OUTOFMEMORY, ERROR_PATH_NOT_FOUND,
};

use super::super::{LaunchError, Spec};

/// Refuses what CreateProcess would start in a way that nobody asked for.
///
/// It runs a batch file by handing the command line to cmd.exe, which splits it by other rules: arguments that
/// were quoted for a program can become commands.
pub fn refuse_batch_file(spec: &Spec, path: &Path) -> Result<(), LaunchError> {
    let batch = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("bat") || extension.eq_ignore_ascii_case("cmd")
    });
    if !batch {
        return Ok(());
    }
    Err(LaunchError::NotExecutable {
        program: spec.program.clone(),
        why: format!("it is a batch file; run `cmd /c {}`", path.display()),
    })
}

/// The error for a CreateProcess of `path` that failed with `source`.
pub fn explain(spec: &Spec, path: &Path, source: io::Error) -> LaunchError {
    let program = spec.program.clone();
    let refused = |why: String| LaunchError::NotExecutable {
        program: program.clone(),
        why,
    };
    match source.raw_os_error().unwrap_or(0).cast_unsigned() {
        ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND | ERROR_INVALID_NAME => LaunchError::NotFound {
            program,
            searched: false,
        },
        ERROR_DIRECTORY => LaunchError::BadDirectory {
            directory: spec.cwd.clone().unwrap_or_else(|| PathBuf::from(".")),
            source,
        },
        ERROR_ACCESS_DENIED if path.is_dir() => refused("it is a directory; name a program in it".to_owned()),
        ERROR_ACCESS_DENIED => {
            refused("the system refuses it to this user; check its permissions".to_owned())
        }
        ERROR_BAD_EXE_FORMAT | ERROR_EXE_MACHINE_TYPE_MISMATCH => refused(why_no_program(path)),
        ERROR_ELEVATION_REQUIRED => {
            refused("it asks for administrator rights; start from an administrator's prompt".to_owned())
        }
        ERROR_FILENAME_EXCED_RANGE => LaunchError::TooLong {
            bytes: super::command_line::MAX_UNITS * 2,
        },
        ERROR_NOT_ENOUGH_MEMORY | ERROR_OUTOFMEMORY | ERROR_COMMITMENT_LIMIT | ERROR_NO_SYSTEM_RESOURCES => {
            LaunchError::NoMemory(source)
        }
        _ => LaunchError::Other(source),
    }
}

fn why_no_program(path: &Path) -> String {
    let mut head = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(4).read_to_end(&mut head));
    match head.as_slice() {
        [] => "it is empty".to_owned(),
        [b'M', b'Z', ..] => {
            "it is a damaged program, or one for another machine; fetch the right one".to_owned()
        }
        [0x7f, b'E', b'L', b'F'] => "it is a program for Linux; run it there".to_owned(),
        _ => "it is no program; if it is a script, name its interpreter first".to_owned(),
    }
}

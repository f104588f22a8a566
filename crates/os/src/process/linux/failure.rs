//! Turns an errno into something a person can act on.
//!
//! execve answers ENOENT both for a program that is not there and for one whose interpreter is not, EACCES for
//! half a dozen reasons, ENOEXEC without a word. The file itself tells which it is.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::{LaunchError, Spec};
use super::block::Block;
use super::protocol::{STAGE_AFFINITY, STAGE_CLONE, STAGE_DIRECTORY, STAGE_EXEC, STAGE_REQUEST};
use crate::loader::{Linkage, classify};

/// The error for a start that failed at `stage` of the protocol with `errno`.
pub fn explain(spec: &Spec, path: &Path, block: &Block, stage: u64, errno: i32) -> LaunchError {
    let source = io::Error::from_raw_os_error(errno);
    match (stage, errno) {
        (STAGE_AFFINITY, _) => LaunchError::BadCpus {
            cpus: spec.cpus.clone().unwrap_or_default(),
            source,
        },
        (STAGE_DIRECTORY, _) => LaunchError::BadDirectory {
            directory: spec.cwd.clone().unwrap_or_else(|| PathBuf::from(".")),
            source,
        },
        (STAGE_CLONE | STAGE_EXEC, libc::ENOMEM | libc::EAGAIN) | (STAGE_REQUEST, libc::ENOMEM) => {
            LaunchError::NoMemory(source)
        }
        (STAGE_EXEC, libc::E2BIG) => LaunchError::TooLong {
            bytes: block.text_bytes(),
        },
        (STAGE_EXEC, _) => explain_exec(&spec.program, &resolve(spec, path), source),
        _ => LaunchError::Other(source),
    }
}

/// Where the file is for us, who may stand in another directory than the command.
fn resolve(spec: &Spec, path: &Path) -> PathBuf {
    spec.cwd
        .as_deref()
        .map_or_else(|| path.to_owned(), |cwd| cwd.join(path))
}

/// The error for an execve of the file `path` that failed with `source`.
fn explain_exec(program: &Path, path: &Path, source: io::Error) -> LaunchError {
    let program = program.to_owned();
    let refused = |why: String| LaunchError::NotExecutable {
        program: program.clone(),
        why,
    };
    match source.raw_os_error().unwrap_or(0) {
        libc::ENOENT => match missing_interpreter(path) {
            Some(interpreter) => LaunchError::MissingInterpreter { program, interpreter },
            None => LaunchError::NotFound {
                program,
                searched: false,
            },
        },
        libc::ENOTDIR => LaunchError::NotFound {
            program,
            searched: false,
        },
        libc::EACCES | libc::EPERM => refused(why_no_access(path)),
        libc::ENOEXEC => refused(why_no_program(path)),
        libc::ETXTBSY => refused("some process has it open for writing; wait until it is written".to_owned()),
        libc::ELIBBAD | libc::EISDIR => {
            let named = interpreter(path).unwrap_or_default();
            refused(format!(
                "its interpreter `{}` is no program; correct the file",
                named.display()
            ))
        }
        _ => refused(source.to_string()),
    }
}

fn why_no_access(path: &Path) -> String {
    let Ok(meta) = std::fs::metadata(path) else {
        return "a directory on the way to it may not be searched; check the permissions of its directories"
            .to_owned();
    };
    if meta.is_dir() {
        return "it is a directory; name a program in it".to_owned();
    }
    if !meta.is_file() {
        return "it is not a regular file; name a program".to_owned();
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return format!(
            "it has no execute permission; `chmod +x {}` gives it",
            path.display()
        );
    }
    match interpreter(path) {
        Some(interpreter) if std::fs::metadata(&interpreter).is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0) => {
            format!("its interpreter `{}` has no execute permission; correct one of the two", interpreter.display())
        }
        _ => "the system refuses it to this user; check its permissions, and whether its file system is mounted noexec"
            .to_owned(),
    }
}

fn why_no_program(path: &Path) -> String {
    let head = head(path);
    if head.is_empty() {
        return "it is empty".to_owned();
    }
    if head.starts_with(b"\x7fELF") {
        return match classify(path) {
            Ok(program) if program.machine != std::env::consts::ARCH => format!(
                "it is a program for {}, which this system does not run; fetch the one for {}",
                program.machine,
                std::env::consts::ARCH
            ),
            _ => "it is a damaged program; build or fetch it again".to_owned(),
        };
    }
    if head.starts_with(b"#!") {
        return "its first line names no interpreter; write one behind `#!`".to_owned();
    }
    if head.starts_with(b"MZ") {
        return "it is a program for Windows; run it there, or by way of wine".to_owned();
    }
    format!(
        "it is neither a program nor a script that begins with `#!`; if it is a shell script, run `sh {}`",
        path.display()
    )
}

/// The first interpreter on the way from a script to a program that is not there.
fn missing_interpreter(path: &Path) -> Option<PathBuf> {
    /// The kernel follows no longer a chain (execve(2), "Interpreter scripts").
    const LONGEST_CHAIN: usize = 5;
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        path = interpreter(&path)?;
        if !path.exists() {
            return Some(path);
        }
    }
    None
}

/// What the file wants to be started by: its dynamic loader, or what stands behind `#!`.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let head = head(path);
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next()?;
        let name = line
            .split(|byte| matches!(byte, b' ' | b'\t'))
            .find(|word| !word.is_empty())?;
        // Unlike for other readers of scripts, a carriage return at the end stays: the system takes it as part
        // of the name, and it is why the name is not found.
        return Some(PathBuf::from(OsStr::from_bytes(name)));
    }
    match classify(path).ok()?.linkage {
        Linkage::Dynamic { interpreter } => Some(interpreter),
        _ => None,
    }
}

/// The beginning of a file; empty when it cannot be read.
fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Anything but a regular file could make us wait.
    if std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
        && let Ok(file) = File::open(path)
    {
        // What was read before an error is as good as nothing.
        let _ = file.take(256).read_to_end(&mut bytes);
    }
    bytes
}

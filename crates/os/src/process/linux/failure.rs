//! Turns an errno into something a person can act on.
//!
//! execve answers ENOENT both for a program that is not there and for one whose interpreter is not, EACCES for
//! half a dozen reasons, ENOEXEC without a word. The file itself tells which it is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::{LaunchError, Spec};
use super::block::Block;
use super::protocol::{STAGE_AFFINITY, STAGE_CLONE, STAGE_DIRECTORY, STAGE_EXEC, STAGE_REQUEST};

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
        libc::ENOENT => match interpreter(path) {
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
        return match head.get(18..20) {
            Some(&[low, high]) if head.get(5) == Some(&1) => foreign_machine(u16::from_le_bytes([low, high])),
            Some(&[high, low]) => foreign_machine(u16::from_be_bytes([high, low])),
            None => None,
            Some(_) => None,
        }
        .unwrap_or_else(|| "it is a damaged program; build or fetch it again".to_owned());
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

/// Names the machine of an ELF program when it is not ours (elf(5), e_machine).
fn foreign_machine(machine: u16) -> Option<String> {
    const MACHINES: &[(u16, &str, &str)] = &[
        (3, "32-bit x86", "x86"),
        (8, "MIPS", "mips"),
        (21, "64-bit PowerPC", "powerpc64"),
        (22, "IBM Z", "s390x"),
        (40, "32-bit ARM", "arm"),
        (62, "x86-64", "x86_64"),
        (183, "64-bit ARM", "aarch64"),
        (243, "RISC-V", "riscv64"),
        (258, "LoongArch", "loongarch64"),
    ];
    let known = MACHINES.iter().find(|(number, ..)| *number == machine);
    if known.is_some_and(|(_, _, arch)| *arch == std::env::consts::ARCH) {
        return None;
    }
    let name = known.map_or_else(
        || format!("machine number {machine}"),
        |(_, name, _)| (*name).to_owned(),
    );
    Some(format!(
        "it is a program for {name}, which this machine is not; fetch the one for {}",
        std::env::consts::ARCH
    ))
}

/// What the file wants to be started by: its dynamic loader, or what stands behind `#!`.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let head = head(path);
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next()?;
        let name = line
            .split(|byte| matches!(byte, b' ' | b'\t'))
            .find(|word| !word.is_empty())?;
        // A script for Windows ends its lines with a carriage return, which becomes part of the name.
        return Some(Path::new(std::ffi::OsStr::from_bytes(name)).to_owned());
    }
    elf_interpreter(path, &head)
}

/// PT_INTERP of a 64-bit little-endian ELF file.
fn elf_interpreter(path: &Path, head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    const HEADER_BYTES: usize = 56;
    /// More than any linker writes; a hostile count must not keep us busy.
    const MAX_HEADERS: usize = 64;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = u64::from_le_bytes(head.get(32..40)?.try_into().ok()?);
    let count = u16::from_le_bytes(head.get(56..58)?.try_into().ok()?);
    let headers = read_at(path, table, HEADER_BYTES * usize::from(count).min(MAX_HEADERS))?;
    let header = headers.chunks_exact(HEADER_BYTES).find(|header| {
        header
            .get(..4)
            .is_some_and(|kind| kind == PT_INTERP.to_le_bytes())
    })?;
    let offset = u64::from_le_bytes(header.get(8..16)?.try_into().ok()?);
    let length = u64::from_le_bytes(header.get(32..40)?.try_into().ok()?).min(libc::PATH_MAX as u64);
    let name = read_at(path, offset, usize::try_from(length).ok()?)?;
    let name = name.split(|&byte| byte == 0).next()?;
    Some(Path::new(std::ffi::OsStr::from_bytes(name)).to_owned())
}

fn head(path: &Path) -> Vec<u8> {
    read_at(path, 0, 256).unwrap_or_default()
}

fn read_at(path: &Path, offset: u64, length: usize) -> Option<Vec<u8>> {
    // Anything else could make us wait.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    file.take(length as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

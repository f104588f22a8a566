//! Linux: the search of execvp(3), /proc/PID/maps, and what the GNU loader tells about itself.

#![expect(
    unsafe_code,
    reason = "access checks, identities and extended attributes have no safe wrapper"
)]

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::bounded::Bounded;
use super::program::{Libc, Linkage, Program};
use super::{InstalledHeap, NotFound, Tunable, elf, heaps, ld_cache, tunable_list};

pub(super) const PRELOAD_VARIABLE: Option<&str> = Some("LD_PRELOAD");

/// What execvp searches when there is no PATH (glibc: `confstr(_CS_PATH)`).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

pub(super) fn find_in_path(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, NotFound> {
    let name = program.to_string_lossy().into_owned();
    if program.as_bytes().contains(&b'/') {
        let file = PathBuf::from(program);
        return match obstacle(&file) {
            None => Ok(file),
            Some(Obstacle::Absent) => Err(NotFound::Missing {
                name,
                searched: "that place".to_owned(),
            }),
            Some(Obstacle::Forbidden(why)) => Err(NotFound::NotExecutable { path: file, why }),
        };
    }
    let folders = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let missing = NotFound::Missing {
        name,
        searched: format!("the folders of PATH ({})", folders.to_string_lossy()),
    };
    if program.is_empty() {
        return Err(missing);
    }
    let mut forbidden = None;
    for folder in folders.as_bytes().split(|&byte| byte == b':') {
        // An empty part of PATH means the current folder.
        let folder = if folder.is_empty() {
            OsStr::new(".")
        } else {
            OsStr::from_bytes(folder)
        };
        let file = Path::new(folder).join(program);
        match obstacle(&file) {
            None => return Ok(file),
            Some(Obstacle::Absent) => {}
            Some(Obstacle::Forbidden(why)) => {
                forbidden.get_or_insert(NotFound::NotExecutable { path: file, why });
            }
        }
    }
    Err(forbidden.unwrap_or(missing))
}

/// A path as an ELF file spells it.
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

enum Obstacle {
    Absent,
    Forbidden(&'static str),
}

/// What would keep execve(2) from running a file, as far as can be told without trying.
fn obstacle(file: &Path) -> Option<Obstacle> {
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Some(Obstacle::Forbidden(
                "a folder on the way to it may not be entered",
            ));
        }
        Err(_) => return Some(Obstacle::Absent),
    };
    if metadata.is_dir() {
        return Some(Obstacle::Forbidden("it is a folder"));
    }
    if !metadata.is_file() {
        return Some(Obstacle::Forbidden("it is not a regular file"));
    }
    let Ok(path) = CString::new(file.as_os_str().as_bytes()) else {
        return Some(Obstacle::Absent);
    };
    // SAFETY: the path ends with a zero byte. AT_EACCESS asks for the identity that exec will have.
    let denied = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) } != 0;
    denied.then_some(Obstacle::Forbidden(
        "it is not executable for this user; `chmod +x` would make it so",
    ))
}

/// Rights that the program gains when it is started (execve(2), capabilities(7)).
pub(super) fn privileges(path: &Path, program: &mut Program) {
    let Ok(metadata) = path.metadata() else { return };
    program.setuid = metadata.mode() & libc::S_ISUID != 0;
    // Without the group's execute bit the set-group-ID bit used to mean mandatory locking.
    program.setgid = metadata.mode() & libc::S_ISGID != 0 && metadata.mode() & libc::S_IXGRP != 0;
    program.file_caps = has_capabilities(path);
    // SAFETY: no preconditions, cannot fail.
    let user = unsafe { libc::getuid() };
    // SAFETY: as above.
    let group = unsafe { libc::getgid() };
    program.secure = program.setuid && metadata.uid() != user
        || program.setgid && metadata.gid() != group
        || program.file_caps && user != 0;
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: both texts end with a zero byte; a size of 0 asks only for the length of the attribute.
    let length = unsafe {
        libc::getxattr(
            path.as_ptr(),
            c"security.capability".as_ptr(),
            std::ptr::null_mut(),
            0,
        )
    };
    length > 0
}

pub(super) fn tunables() -> Vec<Tunable> {
    // Our own loader if we have one; a static build asks a program that every system has.
    ["/proc/self/exe", "/bin/sh", "/usr/bin/env"]
        .iter()
        .filter_map(|program| super::classify(Path::new(program)).ok())
        .find_map(|program| match (program.libc, program.linkage) {
            (Libc::Glibc, Linkage::Dynamic { interpreter }) => Some(tunables_of(&interpreter)),
            _ => None,
        })
        .unwrap_or_default()
}

pub(super) fn tunables_of(interpreter: &Path) -> Vec<Tunable> {
    tunable_list::parse(&ask(interpreter, "--list-tunables"))
}

pub(super) fn diagnostics_of(interpreter: &Path) -> String {
    ask(interpreter, "--list-diagnostics")
}

/// What a loader answers; nothing if it does not understand the question.
fn ask(interpreter: &Path, question: &str) -> String {
    // The environment is emptied so that tunables that are already set do not pass for the defaults.
    let output = Command::new(interpreter)
        .arg(question)
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => String::new(),
    }
}

pub(super) fn hardware() -> (u64, u64) {
    const HWCAP: u64 = 16;
    const HWCAP2: u64 = 26;
    // Pairs of words; what a kernel does not tell is not there, and reads as 0 in programs too.
    let vector = fs::read("/proc/self/auxv").unwrap_or_default();
    let (words, _) = vector.as_chunks::<8>();
    let value = |wanted: u64| {
        let mut pairs = words.chunks_exact(2);
        pairs.find_map(|pair| match pair {
            [kind, value] if u64::from_le_bytes(*kind) == wanted => Some(u64::from_le_bytes(*value)),
            _ => None,
        })
    };
    (value(HWCAP).unwrap_or(0), value(HWCAP2).unwrap_or(0))
}

pub(super) fn mapped_libraries(pid: u32) -> io::Result<Vec<PathBuf>> {
    Ok(parse_maps(&fs::read(format!("/proc/{pid}/maps"))?))
}

/// The files of executable mappings, each once, in the order of their addresses (proc_pid_maps(5)).
fn parse_maps(text: &[u8]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let mut fields = line.splitn(6, |&byte| byte == b' ');
        let permissions = fields.nth(1).unwrap_or_default();
        let Some(path) = fields.nth(3) else { continue };
        let path = path.trim_ascii_start();
        let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
        let file = PathBuf::from(OsStr::from_bytes(path));
        if permissions.get(2) == Some(&b'x') && path.starts_with(b"/") && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

pub(super) fn installed_heaps() -> Vec<InstalledHeap> {
    let Some(own) = own_kind() else { return Vec::new() };
    let cached = ld_cache::paths(&fs::read("/etc/ld.so.cache").unwrap_or_default());
    let in_folders = usual_folders().into_iter().flat_map(files_of);
    let mut candidates = BTreeMap::<&'static str, Vec<PathBuf>>::new();
    for path in cached.into_iter().chain(in_folders) {
        let file = path.file_name().and_then(OsStr::to_str);
        if let Some(name) = file.and_then(heaps::by_file_name) {
            candidates.entry(name).or_default().push(path);
        }
    }
    let fits = |path: &PathBuf| {
        path.is_file()
            && File::open(path).is_ok_and(|file| {
                elf::heap_library(&Bounded::new(file)).ok().flatten().as_ref() == Some(&own)
            })
    };
    let best = |(name, mut paths): (&str, Vec<PathBuf>)| {
        // Stable: of equal versions the one that the loader itself would take.
        paths.sort_by_key(|path| {
            std::cmp::Reverse(heaps::version(
                path.file_name().and_then(OsStr::to_str).unwrap_or_default(),
            ))
        });
        Some(InstalledHeap {
            name: name.to_owned(),
            path: paths.into_iter().find(fits)?,
        })
    };
    candidates.into_iter().filter_map(best).collect()
}

/// The machine type of this program, which is that of the programs it can start with a preloaded library.
fn own_kind() -> Option<elf::Kind> {
    let program = super::classify(Path::new("/proc/self/exe")).ok()?;
    Some(elf::Kind {
        bits: program.bits,
        machine: program.machine,
    })
}

/// Where heaps are installed that the loader's cache does not know.
fn usual_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = [
        "/usr/local/lib",
        "/usr/local/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/hardened_malloc",
        "/opt/lib",
    ]
    .map(PathBuf::from)
    .to_vec();
    let below = |parent: &str, wanted: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        files_of(PathBuf::from(parent))
            .into_iter()
            .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(wanted))
            .collect()
    };
    folders.extend(below("/usr/lib", &|name| name.contains("-linux-")));
    // clang keeps its run-time libraries below its version.
    for llvm in below("/usr/lib", &|name| name.starts_with("llvm-")) {
        for version in files_of(llvm.join("lib/clang")) {
            folders.push(version.join("lib/linux"));
        }
    }
    folders
}

fn files_of(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_understood() {
        let text = b"\
55d0-55d1 r--p 00000000 08:01 42                         /usr/bin/cat
55d1-55d2 r-xp 00001000 08:01 42                         /usr/bin/cat
7f00-7f01 r-xp 00000000 08:01 43                         /tmp/with space.so (deleted)
7f01-7f02 r-xp 00000000 08:01 42                         /usr/bin/cat
7ffd-7ffe r-xp 00000000 00:00 0                          [vdso]
7fff-8000 rwxp 00000000 00:00 0
";
        assert_eq!(
            parse_maps(text),
            ["/usr/bin/cat", "/tmp/with space.so"].map(PathBuf::from)
        );
        assert!(parse_maps(b"nonsense\n\n a b c d e f g").is_empty());
    }
}

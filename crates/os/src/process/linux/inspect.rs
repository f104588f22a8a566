//! Looks into a stopped process by way of /proc.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use super::super::{Memory, ObservedProcess};
use crate::loader::mapped_libraries;

/// Fills in what an exec decides: program, zeroth argument, environment, secure mode.
pub fn after_exec(pid: i32, process: &mut ObservedProcess) {
    process.exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let arguments = read(pid, "cmdline");
    process.argv0 = OsString::from_vec(
        arguments
            .split(|&byte| byte == 0)
            .next()
            .unwrap_or_default()
            .to_vec(),
    );
    process.environment = environment(&read(pid, "environ"));
    // Under a tracer without privileges the kernel gives a set-user-id program none, and then does not
    // run it in secure mode either, as it would without us.
    let changes_identity = fs::metadata(&process.exe).is_ok_and(|meta| meta.mode() & 0o6000 != 0);
    process.secure = changes_identity || secure(&read(pid, "auxv"));
}

/// Whether the file of a process's program gives it another user's or group's rights.
pub fn changes_identity(pid: i32) -> bool {
    fs::metadata(format!("/proc/{pid}/exe")).is_ok_and(|meta| meta.mode() & 0o6000 != 0)
}

/// Fills in the libraries, while the process is about to end.
pub fn before_end(task: i32, process: &mut ObservedProcess) {
    let libraries = mapped_libraries(task.cast_unsigned()).unwrap_or_default();
    // Memory that is gone already leaves an empty list.
    if !libraries.is_empty() {
        process.libraries = libraries;
        process.inspected = true;
    }
}

/// The process that a task belongs to.
pub fn process_of(task: i32) -> Option<i32> {
    let status = read(task, "status");
    let line = status
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(b"Tgid:\t"))?;
    std::str::from_utf8(line).ok()?.parse().ok()
}

fn read(pid: i32, file: &str) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default()
}

fn environment(text: &[u8]) -> Arc<[(OsString, OsString)]> {
    let entries = text.split(|&byte| byte == 0).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let equals = entry.iter().position(|&byte| byte == b'=').unwrap_or(entry.len());
            let value = entry.get(equals + 1..).unwrap_or_default();
            (
                OsString::from_vec(entry[..equals].to_vec()),
                OsString::from_vec(value.to_vec()),
            )
        })
        .collect()
}

/// Where the program headers are in memory (getauxval(3)).
pub const AT_PHDR: u64 = 3;
/// How many they are.
pub const AT_PHNUM: u64 = 5;
/// Where the program in memory begins.
pub const AT_ENTRY: u64 = 9;

/// Where the program in memory begins.
pub fn entry(pid: i32) -> Option<u64> {
    auxiliary(pid, AT_ENTRY)
}

/// A value that the kernel gave to the program (getauxval(3)).
pub fn auxiliary(pid: i32, kind: u64) -> Option<u64> {
    let auxv = read(pid, "auxv");
    auxv.chunks_exact(16)
        .find(|entry| entry[..8] == kind.to_ne_bytes())
        .and_then(|entry| entry[8..].try_into().ok())
        .map(u64::from_ne_bytes)
}

/// Where a 64-bit ELF file says that it begins.
pub fn linked_entry(file: &fs::File) -> io::Result<u64> {
    const E_ENTRY: usize = 24;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0)?;
    let entry = header[E_ENTRY..E_ENTRY + 8].try_into().unwrap_or_default();
    Ok(u64::from_le_bytes(entry))
}

/// Page faults of a process so far: without and with input or output (proc_pid_stat(5), `minflt` and `majflt`).
pub fn faults(pid: i32) -> Option<(u64, u64)> {
    let stat = read(pid, "stat");
    // The name stands in parentheses and may contain anything; the third field begins behind it.
    let behind = stat.iter().rposition(|&byte| byte == b')')?;
    let text = std::str::from_utf8(stat.get(behind + 2..)?).ok()?;
    let mut fields = text.split(' ').skip(7).step_by(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Memory of a process that is its own and not as in any file, in bytes.
pub fn private_dirty(pid: i32) -> Option<u64> {
    rollup(&read(pid, "smaps_rollup"), b"Private_Dirty:")
}

/// Whose the memory of a process is.
pub fn memory(pid: i32) -> Option<Memory> {
    let text = read(pid, "smaps_rollup");
    let of = |key: &[u8]| rollup(&text, key);
    Some(Memory {
        private: of(b"Private_Clean:")? + of(b"Private_Dirty:")?,
        shared: of(b"Shared_Clean:")? + of(b"Shared_Dirty:")?,
        proportional: of(b"Pss:")?,
    })
}

/// One sum of smaps_rollup, in bytes.
fn rollup(text: &[u8], key: &[u8]) -> Option<u64> {
    let line = text
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = std::str::from_utf8(line)
        .ok()?
        .trim()
        .strip_suffix(" kB")?
        .trim()
        .parse()
        .ok()?;
    Some(kib * 1024)
}

/// Whether AT_SECURE is set in an auxiliary vector of 64-bit words (getauxval(3)).
fn secure(auxv: &[u8]) -> bool {
    const AT_SECURE: u64 = 23;
    auxv.chunks_exact(16)
        .any(|entry| entry[..8] == AT_SECURE.to_ne_bytes() && entry[8..] != 0_u64.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_split_at_the_first_equals_sign() {
        let entries = environment(b"A=b=c\0D=\0odd\0");
        let expected = [("A", "b=c"), ("D", ""), ("odd", "")];
        assert_eq!(*entries, expected.map(|(key, value)| (key.into(), value.into())));
    }

    #[test]
    fn our_own_figures_are_found() {
        let us = std::process::id().cast_signed();
        let (minor, _) = faults(us).unwrap();
        assert!(minor > 0);
        let whose = memory(us).unwrap();
        assert!(private_dirty(us).unwrap() > 0 && whose.private >= private_dirty(us).unwrap() / 2);
        assert!(whose.shared > 0 && whose.proportional > whose.private / 2);
        let file = fs::File::open("/proc/self/exe").unwrap();
        // Addresses are moved by whole pages.
        assert_eq!(entry(us).unwrap() % 4096, linked_entry(&file).unwrap() % 4096);
    }

    #[test]
    fn secure_mode_is_read_from_the_auxiliary_vector() {
        let word = |value: u64| value.to_ne_bytes();
        assert!(secure(
            &[word(6), word(4096), word(23), word(1), word(0), word(0)].concat()
        ));
        assert!(!secure(&[word(6), word(23), word(23), word(0)].concat()));
        assert!(!secure(b""));
    }
}

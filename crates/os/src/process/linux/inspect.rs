//! Looks into a stopped process by way of /proc.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use super::super::ObservedProcess;
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
    fn secure_mode_is_read_from_the_auxiliary_vector() {
        let word = |value: u64| value.to_ne_bytes();
        assert!(secure(
            &[word(6), word(4096), word(23), word(1), word(0), word(0)].concat()
        ));
        assert!(!secure(&[word(6), word(23), word(23), word(0)].concat()));
        assert!(!secure(b""));
    }
}

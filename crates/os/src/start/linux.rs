use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub fn become_program(
    file: &Path,
    name: &OsStr,
    arguments: &[OsString],
    environment: &[(OsString, Option<OsString>)],
) -> io::Error {
    let mut command = Command::new(file);
    command.arg0(name).args(arguments);
    for (variable, value) in environment {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    // The standard library unblocks signals and restores SIGPIPE, execve(2) resets handlers.
    command.exec()
}

pub fn started_with(variable: &str, text: &[u8]) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let prefix = format!("{variable}=");
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid: &u32| pid != std::process::id())
        .filter(|pid| {
            let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else {
                return false;
            };
            environment.split(|&byte| byte == 0).any(|entry| {
                entry
                    .strip_prefix(prefix.as_bytes())
                    .is_some_and(|value| memchr::memmem::find(value, text).is_some())
            })
        })
        .collect()
}

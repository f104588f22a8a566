use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;

pub fn become_program(
    file: &Path,
    _: &OsStr,
    arguments: &[OsString],
    environment: &[(OsString, Option<OsString>)],
) -> io::Error {
    let mut command = Command::new(file);
    command.args(arguments);
    for (variable, value) in environment {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

pub fn started_with(_: &str, _: &[u8]) -> Vec<u32> {
    Vec::new()
}

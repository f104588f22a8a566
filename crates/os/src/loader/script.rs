//! The first line of a script: `#!interpreter argument`.
//!
//! The kernel takes everything up to the first blank as the interpreter and passes the rest as one argument
//! (execve(2), "Interpreter scripts"). Often the interpreter is `env`, which looks its argument up in `PATH`; the program
//! of interest is then the one that env starts.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::find_in_path;

/// The kernel reads this much of a script (`BINPRM_BUF_SIZE`, since Linux 5.1).
pub(super) const MAX_LINE: u64 = 256;

/// The interpreter and its argument, as the script's first line has them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shebang {
    interpreter: String,
    argument: String,
}

/// Reads the first line; `None` if it names no interpreter.
pub(super) fn shebang(head: &[u8]) -> Option<Shebang> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t', '\r', '\0']);
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if interpreter.is_empty() {
        return None;
    }
    Some(Shebang {
        interpreter: interpreter.to_owned(),
        argument: argument.trim().to_owned(),
    })
}

impl Shebang {
    /// The files that are started one after the other: the interpreter, and behind `env` the program it looks up.
    /// `Err` holds the name that leads nowhere.
    pub(super) fn resolve(&self) -> Result<Vec<PathBuf>, String> {
        let interpreter = PathBuf::from(&self.interpreter);
        if !interpreter.is_file() {
            return Err(self.interpreter.clone());
        }
        let mut files = vec![interpreter];
        if files[0].file_name() == Some(OsStr::new("env"))
            && let Some(program) = program_of_env(&self.argument)
        {
            let path = std::env::var_os("PATH");
            files.push(find_in_path(OsStr::new(program), path.as_deref()).map_err(|_| program.to_owned())?);
        }
        Ok(files)
    }
}

/// The program among the arguments of `env`: behind options and assignments (env(1)).
fn program_of_env(argument: &str) -> Option<&str> {
    let mut words = argument.split_ascii_whitespace();
    loop {
        let word = words.next()?;
        match word {
            "-S" | "--split-string" | "-i" | "-" | "--ignore-environment" | "-v" | "--debug" => {}
            "-u" | "--unset" | "-C" | "--chdir" => _ = words.next(),
            _ if word.starts_with("-S") || word.starts_with("--split-string=") => {
                let rest = word
                    .trim_start_matches("--split-string=")
                    .trim_start_matches("-S");
                if !rest.contains('=') {
                    return Some(rest);
                }
            }
            _ if word.starts_with('-') || word.contains('=') => {}
            _ => return Some(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(head: &str) -> Option<(String, String)> {
        shebang(head.as_bytes()).map(|line| (line.interpreter, line.argument))
    }

    #[test]
    fn first_lines_are_split_as_the_kernel_does() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(line("#!/bin/sh\necho"), pair("/bin/sh", ""));
        assert_eq!(line("#! /bin/sh -e -u \r\nx"), pair("/bin/sh", "-e -u"));
        assert_eq!(line("#!\t/usr/bin/env\tpython3"), pair("/usr/bin/env", "python3"));
        assert_eq!(line("#!\n/bin/sh"), None);
        assert_eq!(line("#!"), None);
        assert_eq!(line("# !/bin/sh"), None);
        assert_eq!(line(""), None);
    }

    #[test]
    fn the_program_behind_env_is_found() {
        assert_eq!(program_of_env("python3"), Some("python3"));
        assert_eq!(program_of_env("-S python3 -u"), Some("python3"));
        assert_eq!(program_of_env("-Spython3 -u"), Some("python3"));
        assert_eq!(program_of_env("-i -u LANG A=1 perl -w"), Some("perl"));
        assert_eq!(program_of_env("-S"), None);
        assert_eq!(program_of_env(""), None);
    }
}

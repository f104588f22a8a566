//! How `underhood` ends: named exit codes, and the one place that prints an error.

use std::io::{self, Write};
use std::process::ExitCode;

use os::process::LaunchError;

/// The measured or tuned command failed.
pub const COMMAND_FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// It cannot be done here; the reason was printed.
pub const UNSUPPORTED: u8 = 3;
/// A check failed: output that differs, a file that does not verify.
pub const CHECK_FAILED: u8 = 4;
/// Interrupted; what was measured so far is stored.
pub const INTERRUPTED: u8 = 130;

/// A good end, with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done(pub u8);

impl Done {
    /// All as asked.
    pub const OK: Self = Self(0);
}

/// A bad end: a code, and what to tell the user. The text is a fragment that reads after "failed to".
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What could not be done, why, and what to do.
    pub message: String,
}

impl Failure {
    /// A failure of this code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The command line is wrong.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(USAGE, message.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(COMMAND_FAILED, error.to_string())
    }
}

/// The failure of a command that could not be started.
pub fn launch_failure(error: &LaunchError, command: &str) -> Failure {
    let code = match error {
        LaunchError::Interrupted => INTERRUPTED,
        LaunchError::BadCpus { .. } => UNSUPPORTED,
        _ => COMMAND_FAILED,
    };
    Failure::new(code, format!("run {command}: {error}"))
}

/// Prints a failure and returns the process's exit code.
pub fn code_of(result: Result<Done, Failure>) -> ExitCode {
    match result {
        Ok(Done(code)) => ExitCode::from(code),
        Err(failure) => {
            say(&format!("underhood: failed to {}", failure.message));
            ExitCode::from(failure.code)
        }
    }
}

/// Prints a problem of the command line, or the help that was asked for.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.kind() == clap::error::ErrorKind::InvalidUtf8
        && let Some(odd) = std::env::args_os().find(|word| word.to_str().is_none())
    {
        // The library does not say which word it is.
        say(&format!(
            "underhood: failed to read the argument {odd:?}: it is not UTF-8; only file names and the words of a command may be so"
        ));
        return ExitCode::from(USAGE);
    }
    // Help and version are no errors and go to standard output; clap knows which.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// One line on standard error. A closed standard error is no reason to fail.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Text on standard output; colours only where they are wanted.
///
/// # Errors
/// A failure when standard output cannot be written, for example on a full disk. A closed pipe is the reader's choice
/// and no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            COMMAND_FAILED,
            format!("write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

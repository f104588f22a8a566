//! A program that is known to be harmless, started the way everybody starts programs.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program takes from the call that starts it to the notice that it is gone, without arguments, input and output.
///
/// There is no launcher and no limit here: it is for programs of our own making that do nothing, inside of workers, which have no
/// launcher. Everything else is started by [`Launcher`](super::Launcher).
///
/// # Errors
/// The system's error when it cannot be started, and one with its status when it does not succeed.
pub fn time_to_exit(program: &Path) -> io::Result<Duration> {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status()?;
    let elapsed = begin.elapsed();
    if status.success() {
        Ok(elapsed)
    } else {
        Err(io::Error::other(format!("it ended with {status}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(time_to_exit(Path::new("/nowhere/at/all")).is_err());
    }
}

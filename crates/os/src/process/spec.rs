//! What is to be run, and under which conditions.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// A command with everything that could make one run differ from the next.
#[derive(Debug)]
pub struct Spec {
    /// The program. Without a slash (or, on Windows, backslash) it is looked up in the `PATH` of
    /// [`env`](Self::env); a relative path starts at our own working directory. It is also the command's
    /// zeroth argument, unchanged.
    pub program: PathBuf,
    /// The arguments after the zeroth.
    pub args: Vec<OsString>,
    /// The complete environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; `None` for ours.
    pub cwd: Option<PathBuf>,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output.
    pub stdout: Sink,
    /// Standard error.
    pub stderr: Sink,
    /// The CPUs that it may use; `None` for all that we had at our start.
    pub cpus: Option<Vec<usize>>,
    /// After this time the whole tree is ended and the outcome is [`End::TimedOut`](super::End::TimedOut).
    pub timeout: Option<Duration>,
    /// How long what is to end may take to do so by itself.
    pub grace: Duration,
}

impl Spec {
    /// A command with the present environment and working directory, no input, no output and no time limit,
    /// and two seconds of grace.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: std::env::vars_os().collect(),
            cwd: None,
            stdin: Stdin::Null,
            stdout: Sink::Null,
            stderr: Sink::Null,
            cpus: None,
            timeout: None,
            grace: Duration::from_secs(2),
        }
    }

    /// The same with these arguments.
    #[must_use]
    pub fn args<S: Into<OsString>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }
}

/// Where a command reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing to read: the end at once.
    Null,
    /// Our own standard input, at wherever it stands.
    Inherit,
    /// This file from its first byte, opened anew for every run. It must be a regular file or a device,
    /// because a pipe cannot be replayed.
    File(PathBuf),
}

/// Where a command writes to.
#[derive(Debug)]
pub enum Sink {
    /// Nowhere.
    Null,
    /// Our own stream of the same kind.
    Inherit,
    /// An open file, written from where it stands; the position is shared with the command.
    File(File),
}

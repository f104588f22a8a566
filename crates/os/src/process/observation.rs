//! What really happened inside a command.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use super::{Arrival, End};

/// What one untimed run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// How the command ended.
    pub end: End,
    /// Every process of the command in the order of their making; the first is the command itself.
    pub processes: Vec<ObservedProcess>,
    /// How many more processes there were than are listed; not zero only for thousands.
    pub unlisted: u32,
    /// Descendants that still ran when the command was gone; they have been ended.
    pub strays: u32,
    /// For a visit: the programs that the command itself became, in order.
    pub arrivals: Vec<Arrival>,
}

impl Observation {
    /// Whether the command was one process with one thread.
    #[must_use]
    pub fn single_threaded(&self) -> bool {
        self.unlisted == 0 && matches!(self.processes.as_slice(), [only] if only.threads_created == 0)
    }

    /// Whether a library whose file name is `name` was mapped in every process that was looked into.
    /// False when there was none.
    #[must_use]
    pub fn library_everywhere(&self, name: &OsStr) -> bool {
        let mut seen = self
            .processes
            .iter()
            .filter(|process| process.inspected)
            .peekable();
        seen.peek().is_some() && seen.all(|process| process.has_library(name))
    }
}

/// One process of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedProcess {
    /// Its number.
    pub pid: u32,
    /// The program that it ran at its end; empty when it ended before it could be looked into.
    pub exe: PathBuf,
    /// Its zeroth argument.
    pub argv0: OsString,
    /// How many programs it executed (0 for one that was forked and ran on).
    pub execs: u32,
    /// Threads that it made beyond its first.
    pub threads_created: u32,
    /// Whether it was looked into at its end, so that the libraries are complete. A process killed by SIGKILL
    /// cannot be.
    pub inspected: bool,
    /// Files that were mapped as code at its end: the program and its libraries.
    pub libraries: Vec<PathBuf>,
    /// Its environment at its last exec; of the forking process where there was none.
    pub environment: Arc<[(OsString, OsString)]>,
    /// Whether the system ran it in secure mode (set-user-id and the like), in which preloading is ignored.
    pub secure: bool,
}

impl ObservedProcess {
    /// The value of an environment variable.
    #[must_use]
    pub fn variable(&self, name: &OsStr) -> Option<&OsStr> {
        self.environment
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_os_str())
    }

    /// Whether a library with this file name was mapped.
    #[must_use]
    pub fn has_library(&self, name: &OsStr) -> bool {
        self.libraries
            .iter()
            .any(|library| library.file_name() == Some(name))
    }
}

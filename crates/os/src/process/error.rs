//! Why a command could not be run.

use std::io;
use std::path::PathBuf;

use crate::Unsupported;

/// Why a command could not be run. Each message reads after "failed to run …:" and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such program.
    #[error("`{}` was not found{}; check the spelling, or give its path", program.display(),
        if *searched { " in PATH" } else { "" })]
    NotFound {
        /// As it was asked for.
        program: PathBuf,
        /// Whether `PATH` was searched.
        searched: bool,
    },
    /// The file is there and cannot be executed.
    #[error("`{}` cannot be executed: {why}", program.display())]
    NotExecutable {
        /// The file.
        program: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
    /// The file is there, but the program that it needs to be started by is not.
    #[error(
        "`{}` needs the interpreter {:?}, which is not there; install it, or correct the file{}",
        program.display(), interpreter,
        if interpreter.as_os_str().as_encoded_bytes().ends_with(b"\r") {
            " (its lines end as on Windows: `sed -i 's/\\r$//'` mends that)"
        } else {
            ""
        }
    )]
    MissingInterpreter {
        /// The file.
        program: PathBuf,
        /// The dynamic loader of an ELF program, or what stands after `#!`.
        interpreter: PathBuf,
    },
    /// The system's limit for arguments and environment.
    #[error(
        "its arguments and environment are longer than the system accepts ({bytes} bytes); pass less, for example through a file"
    )]
    TooLong {
        /// All of them together.
        bytes: usize,
    },
    /// The working directory cannot be entered.
    #[error("the working directory `{}` cannot be entered ({source}); create it, or choose another", directory.display())]
    BadDirectory {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file that was to be standard input cannot be used.
    #[error("the input file `{}` cannot be read ({source}); check its name and its permissions", file.display())]
    BadInput {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// These CPUs cannot be used.
    #[error(
        "it cannot be bound to the CPUs {cpus:?} ({source}); choose among those that this process may use"
    )]
    BadCpus {
        /// The CPUs asked for.
        cpus: Vec<usize>,
        /// What the system said.
        source: io::Error,
    },
    /// Memory or another resource has run out.
    #[error(
        "the system has no room for another process ({0}); end other programs, or raise the limits (`ulimit -u`, `ulimit -v`)"
    )]
    NoMemory(io::Error),
    /// Descendants resist being ended.
    #[error(
        "{processes} of its processes could not be ended: they are stuck in the kernel, for example on a file system that does not answer; look for state D in `ps`"
    )]
    Stuck {
        /// How many.
        processes: u64,
    },
    /// The launcher itself failed.
    #[error("the launcher failed ({0}); try again, and report this if it happens twice")]
    Launcher(io::Error),
    /// We were interrupted; the command was ended with all its descendants.
    #[error("interrupted")]
    Interrupted,
    /// This machine does not let us do it.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// Something else.
    #[error("{0}")]
    Other(io::Error),
}

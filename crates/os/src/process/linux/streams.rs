//! The descriptors that go along with a request: the three standard streams and the working directory.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use super::super::{LaunchError, Sink, Spec, Stdin};

/// Opens what `spec` names, in the order of the protocol. All of them close on exec.
pub fn open(spec: &Spec) -> Result<[OwnedFd; 4], LaunchError> {
    let stdin = match &spec.stdin {
        Stdin::Null => null(),
        Stdin::Inherit => io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map_err(LaunchError::Other),
        Stdin::File(path) => input(path).map_err(|source| LaunchError::BadInput {
            file: path.clone(),
            source,
        }),
    };
    Ok([
        stdin?,
        sink(&spec.stdout, io::stdout())?,
        sink(&spec.stderr, io::stderr())?,
        directory(spec)?,
    ])
}

fn null() -> Result<OwnedFd, LaunchError> {
    let file = OpenOptions::new().read(true).write(true).open("/dev/null");
    file.map(OwnedFd::from).map_err(LaunchError::Other)
}

/// Opens a file that can be read again for the next run.
fn input(path: &Path) -> io::Result<OwnedFd> {
    // Opening a named pipe would wait for a writer.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        // O_NONBLOCK changes nothing for a regular file, but the command may look.
        return OpenOptions::new().read(true).open(path).map(OwnedFd::from);
    }
    if kind.is_char_device() {
        return Ok(file.into());
    }
    let why = "neither a regular file nor a device, so it cannot be replayed to every run";
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn sink(sink: &Sink, inherited: impl AsFd) -> Result<OwnedFd, LaunchError> {
    match sink {
        Sink::Null => null(),
        Sink::Inherit => inherited.as_fd().try_clone_to_owned().map_err(LaunchError::Other),
        Sink::File(file) => file.as_fd().try_clone_to_owned().map_err(LaunchError::Other),
    }
}

/// The working directory, opened only to be entered.
fn directory(spec: &Spec) -> Result<OwnedFd, LaunchError> {
    let path = spec.cwd.as_deref().unwrap_or(Path::new("."));
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path);
    directory
        .map(OwnedFd::from)
        .map_err(|source| LaunchError::BadDirectory {
            directory: path.to_owned(),
            source,
        })
}

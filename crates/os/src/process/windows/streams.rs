//! The standard streams of a command, as handles that it alone inherits.
#![expect(unsafe_code, reason = "handles are duplicated by a raw call")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, HANDLE};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::super::{LaunchError, Sink, Spec, Stdin};

/// Opens what `spec` names: input, output, error. The handles are inheritable.
pub fn open(spec: &Spec) -> Result<[OwnedHandle; 3], LaunchError> {
    let stdin = match &spec.stdin {
        Stdin::Null => null()?,
        Stdin::Inherit => inherited(io::stdin())?,
        Stdin::File(path) => {
            let file = input(path).map_err(|source| LaunchError::BadInput {
                file: path.clone(),
                source,
            })?;
            inheritable(file.as_handle())?
        }
    };
    Ok([
        stdin,
        sink(&spec.stdout, io::stdout())?,
        sink(&spec.stderr, io::stderr())?,
    ])
}

fn sink(sink: &Sink, ours: impl AsRawHandle) -> Result<OwnedHandle, LaunchError> {
    match sink {
        Sink::Null => null(),
        Sink::Inherit => inherited(ours),
        Sink::File(file) => inheritable(file.as_handle()),
    }
}

fn null() -> Result<OwnedHandle, LaunchError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open("NUL")
        .map_err(LaunchError::Other)?;
    inheritable(file.as_handle())
}

/// A stream of ours; a program without a console may have none.
fn inherited(ours: impl AsRawHandle) -> Result<OwnedHandle, LaunchError> {
    let handle = ours.as_raw_handle();
    if handle.is_null() {
        return null();
    }
    // SAFETY: the standard library never closes the standard streams.
    inheritable(unsafe { BorrowedHandle::borrow_raw(handle) })
}

/// Opens a file that can be read again for the next run.
fn input(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a directory"));
    }
    Ok(file)
}

fn inheritable(handle: BorrowedHandle<'_>) -> Result<OwnedHandle, LaunchError> {
    let mut copy: HANDLE = std::ptr::null_mut();
    // SAFETY: the pseudo-handle is always valid.
    let us = unsafe { GetCurrentProcess() };
    // SAFETY: both processes are ours, the handle is open, and `copy` is a place for the answer.
    let done = unsafe {
        DuplicateHandle(
            us,
            handle.as_raw_handle(),
            us,
            &raw mut copy,
            0,
            1,
            DUPLICATE_SAME_ACCESS,
        )
    };
    if done == 0 {
        return Err(LaunchError::Other(io::Error::last_os_error()));
    }
    // SAFETY: a fresh handle that nobody else owns.
    Ok(unsafe { OwnedHandle::from_raw_handle(copy) })
}

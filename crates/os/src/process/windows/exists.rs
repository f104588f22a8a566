//! Whether a process is there.
#![expect(unsafe_code, reason = "processes are opened by a raw call")]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, STILL_ACTIVE};
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

/// Whether a process with this number runs. One that may not be opened does as well.
pub fn exists(pid: u32) -> bool {
    // SAFETY: numbers only.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if handle.is_null() {
        return io::Error::last_os_error().raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed());
    }
    // SAFETY: the handle was just opened and is nobody else's.
    let process = unsafe { OwnedHandle::from_raw_handle(handle) };
    let mut code = 0;
    // SAFETY: the handle is open and `code` is a place for the answer.
    let told = unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) } != 0;
    // A process that ended stays for as long as somebody holds a handle to it.
    told && code == STILL_ACTIVE.cast_unsigned()
}

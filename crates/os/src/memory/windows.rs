//! Windows: GetSystemInfo, GlobalMemoryStatusEx, and a temporary file that vanishes with its last handle.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_DELETE_ON_CLOSE, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO,
};

pub(super) fn page_size() -> usize {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: `info` is a valid place; the call cannot fail.
    unsafe { GetSystemInfo(&raw mut info) };
    info.dwPageSize as usize
}

pub(super) fn total_bytes() -> Option<u64> {
    status().map(|status| status.ullTotalPhys)
}

pub(super) fn available_bytes() -> Option<u64> {
    status().map(|status| status.ullAvailPhys)
}

fn status() -> Option<MEMORYSTATUSEX> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..Default::default()
    };
    // SAFETY: `status` is a valid place and tells its size.
    let done = unsafe { GlobalMemoryStatusEx(&raw mut status) };
    (done != 0).then_some(status)
}

pub(super) fn capped_file(_cap: u64) -> io::Result<File> {
    let folder = crate::dirs::runtime_dir()?;
    loop {
        let path = folder.join(format!("output-{:016x}.tmp", fastrand::u64(..)));
        let made = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
            // Temporary: kept in memory as long as there is room.
            .attributes(FILE_ATTRIBUTE_TEMPORARY)
            .custom_flags(FILE_FLAG_DELETE_ON_CLOSE)
            .open(path);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other,
        }
    }
}

pub(super) fn written_len(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len())
}

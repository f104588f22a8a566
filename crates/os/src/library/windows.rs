use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

use windows_sys::Win32::Foundation::{FreeLibrary, HMODULE};
use windows_sys::Win32::System::LibraryLoader::LoadLibraryW;

/// What LoadLibrary returned.
#[derive(Debug)]
pub struct Handle(HMODULE);

impl Handle {
    /// See [`Library::open`](super::Library::open).
    pub unsafe fn open(path: &Path) -> io::Result<Self> {
        let wide: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
        // SAFETY: the path ends with a zero; what the library does is the caller's obligation.
        let handle = unsafe { LoadLibraryW(wide.as_ptr()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(handle))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is LoadLibrary's, and freed once.
        unsafe { FreeLibrary(self.0) };
    }
}

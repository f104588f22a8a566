use std::ffi::{CStr, CString, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// What dlopen(3) returned.
#[derive(Debug)]
pub struct Handle(NonNull<c_void>);

impl Handle {
    /// See [`Library::open`](super::Library::open).
    pub unsafe fn open(path: &Path) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the path ends with a zero byte; what the library does is the caller's obligation.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(handle).map(Self).ok_or_else(|| {
            // SAFETY: no preconditions; the text is this thread's until its next call.
            let said = unsafe { libc::dlerror() };
            if said.is_null() {
                return io::Error::other("the loader refused it without a word");
            }
            // SAFETY: not null, so a text that ends with a zero byte.
            io::Error::other(unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned())
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is dlopen's, and closed once.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

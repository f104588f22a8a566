//! Libraries that are loaded into this process while it runs.
//!
//! Contract of the platform files: a `Handle` unloads its library when it is dropped; errors carry the loader's own words.

#![expect(unsafe_code, reason = "the code of a library runs when it is loaded")]

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::io;
use std::path::Path;

/// A loaded library; unloaded when dropped.
#[derive(Debug)]
pub struct Library {
    _handle: imp::Handle,
}

impl Library {
    /// Loads a library with all that it needs, and binds all of its functions (dlopen(3) with `RTLD_NOW` and `RTLD_LOCAL`;
    /// `LoadLibraryW`). The path must be absolute.
    ///
    /// # Safety
    /// Its constructors run, and its destructors when it is dropped: they must be sound in this process, whatever threads it has.
    ///
    /// # Errors
    /// `InvalidInput` for a path that is not absolute, else what the loader says: not found, damaged, a symbol is missing.
    pub unsafe fn open(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            // A bare name would be searched for, and who knows what is found.
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} is not an absolute path", path.display()),
            ));
        }
        // SAFETY: the caller's obligation.
        let handle = unsafe { imp::Handle::open(path) }?;
        Ok(Self { _handle: handle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_an_error_with_words() {
        let exe = std::env::current_exe().unwrap();
        let no_library = exe.with_file_name("no such library");
        // SAFETY: there is nothing to be loaded.
        let error = unsafe { Library::open(&no_library) }.unwrap_err();
        assert!(error.to_string().len() > 10, "{error}");
        // SAFETY: refused before anything is loaded.
        let error = unsafe { Library::open(Path::new("libc.so.6")) }.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}

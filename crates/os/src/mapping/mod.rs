//! A file mapped as the loader maps a library's data: readable and writable, and what is written stays with this process.
//!
//! The first look at a page costs a fault, and the first write to it another one in which the kernel copies the page. That is
//! most of what relative relocations cost, so it is measured here rather than guessed.
//!
//! Contract of the platform files: `map` maps the first `length` bytes, at least one; reads and writes are not optimised away;
//! dropping unmaps.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::fs::File;
use std::io;

/// A private mapping.
#[derive(Debug)]
pub struct PrivateMapping(imp::Mapping);

impl PrivateMapping {
    /// Maps the beginning of a file.
    ///
    /// # Errors
    /// `InvalidInput` when the file has less than `length` bytes or `length` is 0; `Unsupported` where there is no such
    /// mapping; the system's error otherwise. A file that is cut short later than this ends the process when
    /// it is looked at, so map files that nobody shortens: programs in use.
    pub fn map(file: &File, length: usize) -> io::Result<Self> {
        if length == 0 || file.metadata()?.len() < length as u64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        imp::Mapping::new(file, length).map(Self)
    }

    /// The byte at an offset; 0 outside.
    #[must_use]
    pub fn read(&self, offset: usize) -> u8 {
        self.0.read(offset)
    }

    /// Writes the byte at an offset; nothing outside.
    pub fn write(&mut self, offset: usize, byte: u8) {
        self.0.write(offset, byte);
    }
}

#[cfg(test)]
mod tests;

//! Windows relocates libraries as it maps them; what would be compared is not there.

use std::convert::Infallible;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::super::{LaunchError, LinkedObject, MappedRange, Spec};
use crate::Unsupported;

/// See the Linux side: here there is never one.
#[derive(Debug)]
pub struct Standing(Infallible);

impl Standing {
    /// Answers that it cannot be done.
    ///
    /// # Errors
    /// Always [`LaunchError::Unsupported`].
    pub fn start(_spec: Spec) -> Result<Self, LaunchError> {
        Err(LaunchError::Unsupported(Unsupported::new(
            "ELF programs are started on Linux only",
        )))
    }

    /// The program that it is now.
    #[must_use]
    pub const fn exe(&self) -> &Path {
        match self.0 {}
    }

    /// Its number.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        match self.0 {}
    }

    /// Where the pointers to arguments and environment are.
    #[must_use]
    pub const fn vectors(&self) -> &Range<u64> {
        match self.0 {}
    }

    /// What is loaded.
    #[must_use]
    pub const fn objects(&self) -> &[LinkedObject] {
        match self.0 {}
    }

    /// The file of an object.
    #[must_use]
    pub const fn file_of(&self, _object: &LinkedObject) -> Option<&Path> {
        match self.0 {}
    }

    /// Its address space.
    #[must_use]
    pub const fn mappings(&self) -> &[MappedRange] {
        match self.0 {}
    }

    /// Reads its memory.
    ///
    /// # Errors
    /// None: there is no such process.
    pub const fn read(&self, _address: u64, _into: &mut [u8]) -> io::Result<()> {
        match self.0 {}
    }
}

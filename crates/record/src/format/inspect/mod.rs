//! `underhood.image.inspect/1`: what a loader will have to do for a file.

pub mod elf;
pub mod pe;

use serde::{Deserialize, Serialize};

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.image.inspect/1";

/// The whole document. One of `elf` and `pe` is not null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// The file as it was named.
    pub file: String,
    /// What is in an ELF file.
    pub elf: Option<elf::Inspection>,
    /// What is in a PE file.
    pub pe: Option<pe::Inspection>,
}

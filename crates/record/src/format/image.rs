//! `underhood.image.generate/1`: what was generated, how, and what is in the files. Also the set's `manifest.json`.

use serde::{Deserialize, Serialize};

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.image.generate/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Number of libraries asked for.
    pub libraries: u32,
    /// Functions that each of them exports.
    pub functions: u32,
    /// References to variables, a function.
    pub globals: u32,
    /// The program.
    pub program: File,
    /// The library files; fewer than `libraries` when they were merged, none in a static program.
    pub files: Vec<File>,
    /// The commands that built them, in order, run in their folder.
    pub commands: Vec<Vec<String>>,
}

/// One file and what a loader has to do for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its name in the folder.
    pub file: String,
    /// Functions of the set that it imports.
    pub imports: u64,
    /// Among them, by ordinal.
    pub imports_by_ordinal: u64,
    /// What it imports beside the set, from the C library for example.
    pub other_imports: u64,
    /// Relative relocations (ELF) or fixups (PE).
    pub relative_relocations: u64,
    /// References to variables of the set by symbol.
    pub symbol_references: u64,
    /// The address that it asks for, hexadecimal; 0x0 for any.
    pub base: String,
}

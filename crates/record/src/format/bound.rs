//! `underhood.image.bound/1`: a bound copy of an ELF program, what it was made from, and what was done. Also the set's
//! `bound.json`, from which it is verified, made again, and removed.

use serde::{Deserialize, Serialize};

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.image.bound/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// The original program, an absolute path.
    pub program: String,
    /// The copy, which is what is run.
    pub copy: String,
    /// The folder with all other files of the set.
    pub folder: String,
    /// Whether symbols were bound; otherwise files were only moved.
    pub bound: bool,
    /// Whether the program may notice where its copy lies.
    pub noticing: bool,
    /// The first address that was given to the set, hexadecimal.
    pub begin: String,
    /// The address behind the last but the program's, hexadecimal.
    pub end: String,
    /// The objects: the program, the loader, then the libraries in the order in which they are loaded.
    pub objects: Vec<Object>,
    /// What a person should know, one sentence each.
    pub notes: Vec<String>,
    /// The comparison with the original in memory; null when it was not asked for.
    pub verified: Option<Verified>,
}

/// One file of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The original, as the loader finds it.
    pub file: String,
    /// Its copy; null when the original is used.
    pub copy: Option<String>,
    /// Why the original is used; null when there is a copy.
    pub stays: Option<String>,
    /// How far its addresses were moved up, hexadecimal; null when it was not moved.
    pub moved_by: Option<String>,
    /// Relative relocations that were applied in the copy.
    pub relative: u64,
    /// References to symbols that were written into the copy, those that are filled in at start included.
    pub bound: u64,
    /// Among them, those that are filled in at start, because what they refer to has no fixed address.
    pub filled: u64,
    /// Relocations that remain for the loader.
    pub kept: u64,
    /// The identity that the linker gave the original, hexadecimal; null when it has none.
    pub build_id: Option<String>,
    /// What tells this version of the original from another.
    pub stamp: Stamp,
}

/// What tells one version of a file from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The number of the device that it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last changed: seconds since 1970.
    pub seconds: i64,
    /// And nanoseconds.
    pub nanoseconds: u32,
}

/// A comparison of the loaded copy with the loaded original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Words that relocations write, compared as (file, place in it).
    pub words: u64,
    /// Other bytes of the loaded files that were compared.
    pub bytes: u64,
    /// Differences that were found.
    pub differences: u64,
    /// The first of them, one sentence each.
    pub first: Vec<String>,
}

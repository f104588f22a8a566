//! `underhood.image.rebase/1` and `underhood.image.bind/1`: what was changed in PE files.

use serde::{Deserialize, Serialize};

/// The name and version of the document of `image rebase`.
pub const REBASE: &str = "underhood.image.rebase/1";

/// The name and version of the document of `image bind`.
pub const BIND: &str = "underhood.image.bind/1";

/// The document of `image rebase`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebased {
    /// [`REBASE`].
    pub schema: String,
    /// The files, in the order in which they were named.
    pub files: Vec<RebasedFile>,
}

/// A file at its new address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebasedFile {
    /// Where it was written; with a dry run where it would be.
    pub file: String,
    /// The address that it asked for, hexadecimal.
    pub from: String,
    /// The address that it asks for now, hexadecimal.
    pub to: String,
    /// Fixups that were applied.
    pub fixups: u64,
    /// Where the original is kept; null when it was not changed or not kept.
    pub original: Option<String>,
}

/// The document of `image bind` for PE files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// [`BIND`].
    pub schema: String,
    /// The files, in the order in which they were named.
    pub files: Vec<BoundFile>,
}

/// A file whose imports are bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundFile {
    /// Where it was written; with a dry run where it would be.
    pub file: String,
    /// Libraries that it was bound to.
    pub libraries: Vec<String>,
    /// Slots that were filled.
    pub slots: u64,
    /// Libraries that the loader still looks up.
    pub left: Vec<Left>,
    /// Where the original is kept; null when it was not changed or not kept.
    pub original: Option<String>,
}

/// A library that a file was not bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// The library.
    pub library: String,
    /// Why.
    pub reason: String,
}

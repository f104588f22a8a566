//! Whether a copy of a program or library that was moved to other addresses is still the same.
//!
//! A copy whose relocations were applied beforehand must, once it is loaded, be what stock loading makes of the original: every word that
//! a relocation writes to leads to the same place in the same object, every other byte is the same. There are two judges. [`compare_files`]
//! looks at one file and its moved copy, and starts nothing. [`compare_loaded`] looks at the memory of two processes that stand still after
//! relocation, one that loaded the originals and one that loaded the copies; it compares addresses as places in objects, since each
//! process has its objects elsewhere.
//!
//! Both are strict: what is not compared is counted with the reason, and all else that differs is a [`Difference`]. Both know only how
//! such files are read, and nothing of how a copy is written.

mod areas;
mod dynamic;
mod files;
mod headers;
mod loaded;
mod moved;
mod places;
mod symtab;
mod tables;

use std::collections::BTreeMap;

use super::relocations::Kind;

pub use files::{Bound, FileReport, Ignored, compare_files};
pub use loaded::{Memory, Object, Region, Sides, compare_loaded};

/// As many differences are listed; the others are counted.
pub const MAX_LISTED: usize = 100;

/// What two sides have in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number that leads into no object.
    Number(u64),
    /// An address, as the distance from the first segment of an object.
    Inside {
        /// The object.
        object: String,
        /// Bytes behind the beginning of its first segment.
        offset: u64,
    },
    /// A name.
    Text(String),
    /// Nothing is there, or it cannot be read.
    Absent,
}

/// What was compared where a difference was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// What a relocation of the original writes.
    Word(Kind),
    /// A relocation itself.
    Relocation(Kind),
    /// Bytes that no relocation writes to: the eight around the place.
    Bytes,
    /// Bytes of the file that no segment maps; the offset is that in the file.
    NotLoaded,
    /// A field in an entry of a table.
    Field {
        /// The table.
        table: &'static str,
        /// The field, by its name in the specification.
        field: &'static str,
        /// The entry, from 0.
        index: u64,
    },
    /// A table that must be equal to the object's own file in memory.
    Table(&'static str),
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object.
    pub object: String,
    /// Bytes behind the beginning of its first segment; 0 for what has no address.
    pub offset: u64,
    /// What was compared.
    pub what: What,
    /// What the original has; where it has an address, less the distance that the copy was moved by.
    pub original: Value,
    /// What the copy has.
    pub copy: Value,
}

/// What was compared, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The first [`MAX_LISTED`] differences.
    pub differences: Vec<Difference>,
    /// How many there are.
    pub difference_count: u64,
    /// Words that relocations of the originals write to and that were compared, by kind (see [`kind_name`]). A copied variable counts
    /// once.
    pub words: BTreeMap<&'static str, u64>,
    /// Fields of tables that were compared.
    pub fields: u64,
    /// Bytes that were compared as they are.
    pub bytes: u64,
    /// Bytes or entries that were not compared, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl Report {
    /// Whether nothing differs.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.difference_count == 0
    }

    /// All words of all kinds.
    #[must_use]
    pub fn all_words(&self) -> u64 {
        self.words.values().sum()
    }

    fn differs(&mut self, difference: Difference) {
        self.difference_count += 1;
        if self.differences.len() < MAX_LISTED {
            self.differences.push(difference);
        }
    }

    fn word(&mut self, kind: &'static str) {
        *self.words.entry(kind).or_default() += 1;
    }

    fn skip(&mut self, reason: &'static str, amount: u64) {
        if amount > 0 {
            *self.skipped.entry(reason).or_default() += amount;
        }
    }
}

/// A short name of a kind of relocation, as in [`Counts`](super::relocations::Counts).
#[must_use]
pub const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Relative => "relative",
        Kind::GlobDat => "glob_dat",
        Kind::JumpSlot => "jump_slot",
        Kind::Absolute => "absolute",
        Kind::Copy => "copy",
        Kind::Irelative => "irelative",
        Kind::TlsModule => "tls_module",
        Kind::TlsOffset => "tls_offset",
        Kind::TlsStatic => "tls_static",
        Kind::TlsDescriptor => "tls_descriptor",
        Kind::None => "none",
        Kind::Other(_) => "other",
    }
}

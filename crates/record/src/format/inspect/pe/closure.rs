//! What a loader does for a PE file and the libraries beside it.

use serde::{Deserialize, Serialize};

use crate::format::Number;

/// A file with all libraries that were found beside it, loaded by the reference loader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closure {
    /// The files in load order, the root first.
    pub modules: Vec<Module>,
    /// Libraries that are not beside the file: the system's, or missing.
    pub outside: Vec<String>,
    /// What the loader does.
    pub counts: Counts,
    /// How many times it was loaded.
    pub loads: u64,
    /// The times of the fastest load.
    pub fastest: Times,
    /// Slots of the import tables that an independent reading found right.
    pub checked_slots: u64,
    /// What was found wrong; empty unless this program is.
    pub differences: Vec<String>,
    /// What would save most; `null` when little can be saved.
    pub remedy: Option<Remedy>,
}

/// A loaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Its name in the folder.
    pub file: String,
    /// The base that it asks for, hexadecimal.
    pub preferred: String,
    /// Where it lies in the reference loader.
    pub base: String,
    /// Whether these differ.
    pub moved: bool,
    /// The file before it that has its place; `null` when it is not moved.
    pub collides_with: Option<String>,
    /// Fixups that were applied.
    pub fixups: u64,
    /// Pages of 4 KiB that were written to.
    pub dirtied_pages: u64,
    /// Whether Windows chooses the address anyway.
    pub dynamic_base: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Files.
    pub modules: u64,
    /// Files that did not get their preferred base.
    pub moved: u64,
    /// Fixups applied.
    pub fixups: u64,
    /// Exports searched by name.
    pub names: u64,
    /// Comparisons of names.
    pub comparisons: u64,
    /// Searches that ended at the hint.
    pub hint_hits: u64,
    /// Exports found by number.
    pub ordinals: u64,
    /// Forwarders followed.
    pub forwarded: u64,
    /// Bindings that held, one a file and library.
    pub bound: u64,
    /// Bindings that did not.
    pub stale: u64,
    /// Slots written.
    pub written: u64,
    /// Slots with functions of libraries outside.
    pub outside: u64,
    /// Pages of 4 KiB dirtied.
    pub dirtied_pages: u64,
    /// Among them, by fixups.
    pub fixup_pages: u64,
}

/// How long a load took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// All of it.
    pub total_us: Number,
    /// Finding addresses and copying files into place.
    pub map_us: Number,
    /// Applying fixups.
    pub fixups_us: Number,
    /// Finding libraries and filling slots.
    pub imports_us: Number,
}

/// What would save most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// `rebase`, `bind`.
    pub name: String,
    /// What it would save in the reference loader, at most.
    pub saves_us: Number,
    /// The same in words.
    pub sentence: String,
}

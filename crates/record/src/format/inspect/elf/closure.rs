//! All that is loaded for a program, how it is found, and what it costs.

use serde::{Deserialize, Serialize};

use super::File;

/// A program with its libraries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closure {
    /// The program, the loader, then all others in the order in which they are loaded.
    pub objects: Vec<Object>,
    /// Indices of objects in the order in which symbols are searched in them.
    pub scope: Vec<usize>,
    /// Every search for a needed name, in order.
    pub searches: Vec<Search>,
    /// Why the loader refuses to go on, beside missing libraries: versions that are not there. Sentences without full stop.
    pub refusals: Vec<String>,
    /// `LD_LIBRARY_PATH` as it was taken into account.
    pub library_path: Option<String>,
    /// Libraries that are preloaded by the environment or the system.
    pub preload: Vec<String>,
    /// `LD_BIND_NOW` was taken into account.
    pub bind_now: bool,
    /// The program runs with rights that its user has not got: the environment is ignored.
    pub secure: bool,
    /// What the loader does, counted.
    pub work: Work,
    /// What each step costs on this machine in nanoseconds; `null` where it cannot be measured.
    pub unit_costs_ns: Option<Costs>,
    /// The estimate by phase in microseconds; `null` without unit costs.
    pub estimate_us: Option<Estimate>,
    /// The measured time to the entry point beside it, in microseconds; `null` when it was not measured.
    pub measured_entry_us: Option<f64>,
    /// The largest remedy, a sentence; `null` without an estimate.
    pub remedy: Option<String>,
    /// What is left out.
    pub notes: Vec<String>,
}

/// A loaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its path as the loader has it.
    pub path: String,
    /// Its part.
    pub role: Role,
    /// The object for which it was loaded first.
    pub loaded_by: Option<usize>,
    /// What is in it.
    pub file: File,
    /// Its symbols that are looked up at start.
    pub eager: Lookups,
    /// Those that wait for the first call.
    pub lazy: Lookups,
}

/// The part of a loaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The program itself.
    Program,
    /// The loader.
    Loader,
    /// Loaded before all others by wish.
    Preloaded,
    /// A needed library.
    Library,
}

/// Sums over symbol lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookups {
    /// Searches.
    pub lookups: u64,
    /// Relocations for the same symbol as the one before.
    pub again: u64,
    /// Relocations for symbols of the file itself.
    pub own: u64,
    /// Relocations for symbols that nothing defines.
    pub unresolved: u64,
    /// Among them, those that are not weak.
    pub missing: u64,
    /// Libraries that were looked into.
    pub libraries: u64,
    /// Among them, those that the bloom filter ruled out.
    pub rejected: u64,
    /// Entries of hash chains.
    pub chain: u64,
    /// Comparisons of names.
    pub comparisons: u64,
}

/// The search for one needed name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The name.
    pub name: String,
    /// The object that needs it.
    pub needed_by: usize,
    /// The places that were looked at, in order.
    pub places: Vec<Place>,
    /// How it ended.
    pub ending: Ending,
    /// The object that was found.
    pub object: Option<usize>,
    /// Why what was found cannot be loaded.
    pub refused: Option<String>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// A new object.
    Loaded,
    /// An object had the name already.
    Known,
    /// The file was loaded already under another name.
    SameFile,
    /// Nothing was found.
    Missing,
    /// What was found cannot be loaded.
    Refused,
}

/// A place that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub path: String,
    /// Why there.
    pub reason: Reason,
    /// The object whose `DT_RPATH` or `DT_RUNPATH` it was.
    pub of: Option<usize>,
    /// What was there.
    pub outcome: Outcome,
}

/// Why a place is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// `DT_RPATH`.
    Rpath,
    /// `LD_LIBRARY_PATH`.
    LibraryPath,
    /// `DT_RUNPATH`.
    Runpath,
    /// The loader's cache.
    Cache,
    /// The loader's own folders.
    Default,
    /// The name is a path.
    Path,
}

/// What was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The library.
    Found,
    /// Nothing.
    Missing,
    /// A file for another kind of processor.
    OtherMachine,
    /// A file that ends the start with an error.
    Refused,
}

/// What the loader does, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Libraries beside the program and the loader.
    pub libraries: u64,
    /// Places where a needed library was not.
    pub misses: u64,
    /// Folders that were asked for because of that.
    pub folder_checks: u64,
    /// Relative relocations.
    pub relative: u64,
    /// Pages that become the process's own because of them.
    pub relative_pages: u64,
    /// Pages that become its own because of other relocations only.
    pub symbol_pages: u64,
    /// Pages of tables that are read.
    pub table_pages: u64,
    /// Libraries with only the older hash table.
    pub sysv_only: u64,
    /// Lookups at start.
    pub eager: Lookups,
    /// Lookups at the first call.
    pub lazy: Lookups,
}

/// What one step costs in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// A file that is not there is asked for.
    pub miss: f64,
    /// A library is opened and mapped.
    pub library: f64,
    /// A relative relocation on a page that is copied already.
    pub relative: f64,
    /// A page is written to for the first time.
    pub copied_page: f64,
    /// A page of a file is read for the first time.
    pub read_page: f64,
    /// One library is looked into for one symbol.
    pub step: f64,
    /// The same if all libraries had the newer hash table; `null` when they have.
    pub step_rehashed: Option<f64>,
}

/// Microseconds of each phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Places where libraries are not.
    pub search: f64,
    /// Opening and mapping.
    pub mapping: f64,
    /// Relative relocations, without the faults.
    pub relative: f64,
    /// Symbol lookup.
    pub lookup: f64,
    /// Page faults.
    pub faults: f64,
    /// All of it.
    pub total: f64,
}

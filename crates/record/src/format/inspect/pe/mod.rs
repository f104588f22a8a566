//! What is in PE files.

mod closure;

use serde::{Deserialize, Serialize};

pub use closure::{Closure, Counts, Module, Remedy, Times};

use crate::format::Ordered;

/// One file, and with `--closure` all that it needs, with `--heap` the heap that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The file itself.
    pub file: File,
    /// What the loader will do for it; in the order of the import table.
    pub imports: Vec<Import>,
    /// Libraries that are loaded when a function of theirs is first called.
    pub delayed: Vec<Delayed>,
    /// The directory of bound imports.
    pub bound: Vec<Bound>,
    /// With `--closure`.
    pub closure: Option<Closure>,
    /// With `--heap`.
    pub heap: Option<Heap>,
}

/// Facts of the file as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// `x86_64`, `x86`, `aarch64`, or the number as `0x1c4`.
    pub machine: String,
    /// `program` or `library`.
    pub kind: String,
    /// `console`, `gui`, `native` or the number.
    pub subsystem: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The preferred base, hexadecimal.
    pub base: String,
    /// Bytes of address space.
    pub image_bytes: u64,
    /// Alignment of sections in memory.
    pub section_alignment_bytes: u64,
    /// Alignment of sections in the file.
    pub file_alignment_bytes: u64,
    /// Windows chooses the address.
    pub dynamic_base: bool,
    /// It chooses among all of 64 bits.
    pub high_entropy: bool,
    /// The base relocations were removed.
    pub relocations_stripped: bool,
    /// Its stamp: seconds since 1970, or a hash in their place.
    pub stamp: u32,
    /// Version of the linker, such as `2.40`.
    pub linker: String,
    /// The checksum that it states, hexadecimal; `0x0` for none.
    pub checksum: String,
    /// The checksum that its bytes have.
    pub checksum_computed: String,
    /// It has a signature.
    pub signed: bool,
    /// Names that it exports.
    pub exported_names: u64,
    /// Exports without a name.
    pub exported_numbers_only: u64,
    /// Exports that lead to other libraries.
    pub forwarders: u64,
    /// Its base relocations by type.
    pub fixups: Ordered<u64>,
    /// Pages of 4 KiB that they write to when the file is moved.
    pub fixup_pages: u64,
    /// Functions that the loader calls before the entry point; `null` without thread-local storage.
    pub tls_callbacks: Option<u64>,
}

/// Imports from one library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The library as it is written.
    pub library: String,
    /// Imports by name.
    pub by_name: u64,
    /// Imports by number.
    pub by_ordinal: u64,
    /// `no`, `new` (see `bound`) or `old` (the stamp stands beside the import).
    pub binding: String,
    /// Each of them in the order of its slots.
    pub symbols: Vec<Symbol>,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// The name; `null` by number.
    pub name: Option<String>,
    /// Where the library's names had it when this was linked; `null` by number.
    pub hint: Option<u16>,
    /// The number; `null` by name.
    pub ordinal: Option<u16>,
}

/// A library that is loaded when it is first needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delayed {
    /// The library as it is written.
    pub library: String,
    /// Functions of it.
    pub functions: u64,
}

/// An entry of the directory of bound imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The library.
    pub library: String,
    /// The stamp that it had; 0 when it was listed and not bound.
    pub stamp: u32,
    /// Libraries that it forwards to.
    pub forwarders: Vec<Forwarder>,
}

/// A library that another forwards to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forwarder {
    /// The library.
    pub library: String,
    /// The stamp that it had.
    pub stamp: u32,
}

/// Which heap the program gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// `msvcrt`, `ucrt`, `compiler` or `none`.
    pub runtime: String,
    /// The library of the runtime; `null` for none.
    pub library: Option<String>,
    /// Functions of C and C++ that give or take memory, as `library!function`.
    pub of_language: Vec<String>,
    /// Functions of the system that do.
    pub of_system: Vec<String>,
    /// Which heap it is and why.
    pub reason: String,
    /// Whether it can be given another.
    pub choice: String,
}

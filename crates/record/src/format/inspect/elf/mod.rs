//! What is in ELF files.

mod closure;

use serde::{Deserialize, Serialize};

pub use closure::{
    Closure, Costs, Ending, Estimate, Lookups, Object, Outcome, Place, Reason, Role, Search, Work,
};

/// One file, and with `--closure` all that it needs, with `--heap` the heap that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The file itself.
    pub file: File,
    /// Its symbols, when it is inspected alone.
    pub symbols: Option<Symbols>,
    /// With `--closure`.
    pub closure: Option<Closure>,
    /// With `--heap`.
    pub heap: Option<Heap>,
}

/// What one file asks of the loader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// `x86_64` or `aarch64`.
    pub machine: String,
    /// `program` (at fixed addresses), `pie`, `static`, `static_pie` or `library`.
    pub kind: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The loader that it asks for.
    pub interpreter: Option<String>,
    /// Its own name as a library.
    pub soname: Option<String>,
    /// The libraries that it names, in order.
    pub needed: Vec<String>,
    /// Folders to search before `LD_LIBRARY_PATH`.
    pub rpath: Option<String>,
    /// Folders to search after it.
    pub runpath: Option<String>,
    /// Libraries that it stands for.
    pub filters: Vec<String>,
    /// All functions are bound at start.
    pub bind_now: bool,
    /// Its own symbols are searched in itself first.
    pub symbolic: bool,
    /// It is never unloaded.
    pub nodelete: bool,
    /// It needs a place near the thread pointer.
    pub static_tls: bool,
    /// Names of the bits of `DT_FLAGS_1`.
    pub flags_1: Vec<String>,
    /// `gnu`, `sysv`, `both` or `none`.
    pub hash_style: String,
    /// Dynamic symbols, the empty first one included.
    pub dynamic_symbols: u64,
    /// Symbols that others can find in it.
    pub exports: u64,
    /// Among them, functions that choose an implementation at load time.
    pub ifuncs: u64,
    /// Symbols that it asks others for.
    pub imports: u64,
    /// Its relocations by kind.
    pub relocations: Relocations,
    /// Whether its code is written to.
    pub textrel: bool,
    /// The address that it asks for, hexadecimal; 0x0 for any.
    pub base: String,
    /// Pieces that are mapped.
    pub mappings: u64,
    /// Size of its thread-local variables, if any.
    pub tls_bytes: Option<u64>,
    /// How it reaches thread-local variables: `general_dynamic`, `initial_exec`, `descriptors`.
    pub tls_models: Vec<String>,
    /// The identity that the linker gave it, hexadecimal.
    pub build_id: Option<String>,
}

/// Relocations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocations {
    /// Relative ones, one entry each.
    pub relative: u64,
    /// Relative ones that a packed table stands for.
    pub packed: u64,
    /// Entries of that table.
    pub packed_words: u64,
    /// `GLOB_DAT`.
    pub glob_dat: u64,
    /// `JUMP_SLOT`.
    pub jump_slot: u64,
    /// `64`, `ABS64`.
    pub absolute: u64,
    /// `COPY`.
    pub copy: u64,
    /// `IRELATIVE`.
    pub irelative: u64,
    /// `DTPMOD`.
    pub tls_module: u64,
    /// `DTPOFF`, `DTPREL`.
    pub tls_offset: u64,
    /// `TPOFF`, `TPREL`.
    pub tls_static: u64,
    /// `TLSDESC`.
    pub tls_descriptor: u64,
    /// All others.
    pub other: u64,
    /// Pages of 4 KiB that they write to.
    pub pages: u64,
    /// Among them, those that relative ones write to.
    pub relative_pages: u64,
}

/// The dynamic symbols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    /// What others can find in it.
    pub exported: Vec<Exported>,
    /// What it asks others for.
    pub imported: Vec<Imported>,
}

/// A symbol that others can find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Whether it is the one of several versions that new programs get.
    pub default: bool,
}

/// A symbol that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The library that is to define this version.
    pub library: Option<String>,
    /// Whether the file does without.
    pub weak: bool,
}

/// Which heap a program gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// `libc`, the name of another heap, `own`, `go`, or `unknown`.
    pub heap: String,
    /// The file whose `malloc` it is, when it is not the program's own.
    pub provider: Option<String>,
    /// How that is known, a sentence.
    pub reason: String,
    /// Whether another heap can be preloaded.
    pub replaceable: bool,
    /// Why not, a sentence; `null` when it can.
    pub obstacle: Option<String>,
}

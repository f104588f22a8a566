//! What is seen of a process that stands still with all its libraries relocated.

use std::path::PathBuf;

/// An object in the list that the dynamic loader keeps for debuggers (`struct link_map`, `<link.h>`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedObject {
    /// Its name as the loader says it (`l_name`): empty for the program, no path for the kernel's own library.
    pub name: PathBuf,
    /// What is to be added to the addresses in its file (`l_addr`).
    pub bias: u64,
    /// Where its dynamic table is in memory (`l_ld`).
    pub dynamic: u64,
}

/// A line of proc_pid_maps(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// Its first address.
    pub start: u64,
    /// The address behind its last one.
    pub end: u64,
    /// Whether it can be read, written to, and executed.
    pub access: [bool; 3],
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file's inode number; 0 where there is no file.
    pub inode: u64,
    /// The file, or what the kernel calls it (`[stack]`, `[vdso]`); empty for anonymous memory.
    pub name: PathBuf,
}

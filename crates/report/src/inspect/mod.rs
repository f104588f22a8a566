//! What a loader will have to do for a file.

pub mod elf;
pub mod pe;

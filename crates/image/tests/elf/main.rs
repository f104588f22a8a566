//! The readers of ELF files against the programs of this machine, its loader and binutils.
#![cfg(target_os = "linux")]

mod fake;
mod files;
mod loader;
mod rules;
mod system;

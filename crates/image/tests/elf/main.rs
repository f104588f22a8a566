//! The readers of ELF files against the programs of this machine, its loader and binutils.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "figures for who asks for them with --nocapture"
)]

mod bound;
mod fake;
mod files;
mod loader;
mod made;
mod moved;
mod rules;
mod system;
mod writers;

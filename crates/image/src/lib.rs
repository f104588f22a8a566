//! Executables and shared libraries as bytes: what a loader finds in them, and sets of them made to order.
//!
//! Nothing here starts a program or touches a file: [`generate`] says which sources to write and which tools to run, [`count`]
//! reads what came out. So every part works on any host, for images of any other.

pub mod count;
pub mod elf;
pub mod generate;
pub mod pe;
pub mod symbol;

//! The vocabulary of Underhood as data: what was planned, measured and concluded.
//!
//! Three layers, each unaware of the next:
//!
//! * [`model`]: the words of docs/GLOSSARY.md as plain Rust values. The measuring kernel fills them,
//!   the report reads them.
//! * [`format`](mod@format): the versioned JSON documents of docs/FORMAT.md, made from the model.
//! * `store` (feature `store`): the SQLite file that keeps runs with their raw samples.
//!
//! A run made on Windows can be read and reported on Linux: nothing here asks the operating system
//! anything, apart from the store's file access.

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
pub mod format;
pub mod model;
#[cfg(feature = "store")]
pub mod store;

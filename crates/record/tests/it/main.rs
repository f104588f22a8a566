//! Tests of the crate from outside, in one program: linking SQLite once is enough.

mod format;
mod inspect_pe;
#[cfg(target_os = "linux")]
mod mounts;
mod processes;
mod samples;
mod store;

//! Tests of the crate from outside, in one program: linking SQLite once is enough.

mod format;
mod processes;
mod samples;
mod store;

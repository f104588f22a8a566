//! Tests of the crate from outside, in one program: linking SQLite once is enough.

mod processes;
mod samples;
mod store;

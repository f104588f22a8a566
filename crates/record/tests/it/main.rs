//! Tests of the crate from outside, in one program: linking SQLite once is enough.

mod samples;
mod store;

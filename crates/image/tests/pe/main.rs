//! PE files as they are found and as they are made for the purpose: what is read, loaded, rebased and bound is right.
#![expect(clippy::print_stdout, reason = "a test that has nothing to look at says so")]

mod generated;
mod hostile;
mod loader;
mod objdump;
mod sample;
mod system;
mod tables;
mod tools;
mod wine;

//! The measuring kernel: what a benchmark is, which cases a run consists of, the timed loop, the trial in a
//! fresh process, and the block-wise comparison of commands.
//!
//! The kernel knows no suite: suites hand it benchmarks through [`benchmark::Benchmark`].

pub mod benchmark;
pub mod case_plan;
pub mod command;
pub mod list;
pub mod parameter;
pub mod protocol;
pub mod schedule;
pub mod selector;
pub mod summarise;
pub mod timed;
pub mod trial;
pub mod worker;

/// The vocabulary as data, for the suites: they depend on the kernel and not on what keeps records.
pub use record::model;

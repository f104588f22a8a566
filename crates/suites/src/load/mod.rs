//! The load lab: what it costs to get from nothing to a program's first instruction, and which way of linking costs what.
//!
//! Every case is a set of libraries made to order ([`image::generate`]). The main program builds it before the first trial and tells
//! the worker where it is ([`set::FOLDER`]); the subject is the way in which it is linked, or what was done to it afterwards.
//! ELF sets are started; PE sets are loaded by the reference loader of [`image::pe::loader`], on any system.

mod dlopen;
mod instances;
mod pe;
pub mod set;
mod start;
pub mod subject;

use measure::benchmark::Benchmark;

/// The benchmarks, in the order of `list`.
pub const BENCHMARKS: &[&dyn Benchmark] = &[&start::Start, &dlopen::Dlopen, &instances::Instances, &pe::Pe];

//! The heap lab: what allocating costs, alone and under threads, and what contention for one lock does to it.
//!
//! Every benchmark takes its heap as a type parameter of [`os::heap::Heap`]; on Linux that is always the C library's
//! functions, and the subject is what was preloaded behind them.

mod aligned;
mod burst;
mod calloc_zeroed;
mod cross_thread_free;
mod false_sharing;
mod heaptest;
mod random;
mod realloc_growth;
mod resident;
mod server;
pub mod subject;
mod suite;
mod team;

use measure::benchmark::Benchmark;
use suite::Heaped;

/// The benchmarks, in the order of `list`.
pub const BENCHMARKS: &[&dyn Benchmark] = &[
    &Heaped(heaptest::Heaptest),
    &Heaped(resident::Resident),
    &Heaped(cross_thread_free::CrossThreadFree),
    &Heaped(server::Server),
    &Heaped(burst::Burst),
    &Heaped(realloc_growth::ReallocGrowth),
    &Heaped(calloc_zeroed::CallocZeroed),
    &Heaped(aligned::Aligned),
    &Heaped(false_sharing::FalseSharing),
];

//! The suites: every benchmark by name, what can be put under test, and the remedies that come of it.
//!
//! One folder a suite, one file a primitive. Adding a primitive is one new file and one line in its suite's list.

pub mod heap;
pub mod load;
pub mod remedy;

use measure::benchmark::{Benchmark, Subject};

/// All benchmarks, suite by suite.
#[must_use]
pub fn benchmarks() -> Vec<&'static dyn Benchmark> {
    [heap::BENCHMARKS, load::BENCHMARKS].concat()
}

/// The benchmark of a suite and a name.
#[must_use]
pub fn find(suite: &str, name: &str) -> Option<&'static dyn Benchmark> {
    benchmarks().into_iter().find(|benchmark| {
        let info = benchmark.info();
        info.suite == suite && info.name == name
    })
}

/// Where a file that we carry was put: a heap's library by name.
pub type Artifact<'a> = &'a dyn Fn(&str) -> Result<std::path::PathBuf, String>;

/// What can be put under test in a suite on this machine.
#[must_use]
pub fn subjects(suite: &str, artifact: Artifact<'_>) -> Vec<Subject> {
    match suite {
        "heap" => heap::subject::all(artifact),
        "load" => load::subject::all(),
        _ => Vec::new(),
    }
}

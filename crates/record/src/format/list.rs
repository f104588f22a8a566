//! `underhood.list/1`: every benchmark, what can be set, and whether it runs here.

use serde::{Deserialize, Serialize};

use crate::model::{BenchmarkInfo, Support};

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.list/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// One entry a benchmark, also those that cannot run.
    pub benchmarks: Vec<Benchmark>,
}

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Benchmark {
    /// `suite/benchmark`.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Its parameters in the order of its cases' names.
    pub parameters: Vec<Parameter>,
    /// The subjects that can be measured here.
    pub subjects: Vec<String>,
    /// The subjects that cannot.
    pub unsupported_subjects: Vec<Subject>,
    /// Whether it runs here at all.
    pub supported: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name, as `--set` takes it.
    pub name: String,
    /// The list it is swept over when nothing is set.
    pub default: String,
    /// The unit of its values; empty for counts and words.
    pub unit: String,
    /// One line.
    pub summary: String,
}

/// A subject that cannot be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Why it cannot.
    pub reason: String,
}

impl Document {
    /// The document of a list of benchmarks.
    #[must_use]
    pub fn of(benchmarks: &[BenchmarkInfo]) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            benchmarks: benchmarks.iter().map(benchmark).collect(),
        }
    }
}

fn benchmark(from: &BenchmarkInfo) -> Benchmark {
    let usable = from
        .subjects
        .iter()
        .filter(|s| s.support.is_yes())
        .map(|s| s.name.clone());
    let unusable = from.subjects.iter().filter_map(|s| match &s.support {
        Support::Yes => None,
        Support::No(reason) => Some(Subject {
            name: s.name.clone(),
            reason: reason.clone(),
        }),
    });
    Benchmark {
        name: from.name.clone(),
        summary: from.summary.clone(),
        parameters: from
            .parameters
            .iter()
            .map(|p| Parameter {
                name: p.name.clone(),
                default: p.default.clone(),
                unit: p.unit.clone(),
                summary: p.summary.clone(),
            })
            .collect(),
        subjects: usable.collect(),
        unsupported_subjects: unusable.collect(),
        supported: from.support.is_yes(),
        reason: from.support.reason().map(str::to_owned),
    }
}

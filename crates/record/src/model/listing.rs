//! What there is to choose from: benchmarks for `list`, stored runs for `runs`.

use std::fmt;

use super::advice::Support;
use super::run::{Run, RunKind, RunStatus};

/// A benchmark as `list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkInfo {
    /// `suite/benchmark`.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Its parameters in the order of its cases' names.
    pub parameters: Vec<ParameterInfo>,
    /// What it can be run on.
    pub subjects: Vec<SubjectInfo>,
    /// Whether it can run here at all.
    pub support: Support,
}

/// An axis of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name, as `--set` takes it.
    pub name: String,
    /// The list it is swept over when nothing is set, as `--set` would take it.
    pub default: String,
    /// The unit of its values; empty for counts and words.
    pub unit: String,
    /// One line; may be empty.
    pub summary: String,
}

/// One subject of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectInfo {
    /// Its name.
    pub name: String,
    /// Whether it can be measured here.
    pub support: Support,
}

/// The number of a run in its store; never given twice, not even after a run was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A stored run as `runs` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its number.
    pub id: RunId,
    /// Seconds since 1970-01-01 UTC at the start.
    pub started_unix: f64,
    /// Which command made it.
    pub kind: RunKind,
    /// How it ended.
    pub status: RunStatus,
    /// What was measured; see [`Run::what`].
    pub what: String,
    /// Where; see [`Run::host`].
    pub host: String,
}

impl Run {
    /// What was measured, in one line: the benchmarks, or the commands; for a run that holds no results yet,
    /// its arguments.
    #[must_use]
    pub fn what(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for measurement in &self.measurements {
            let name = measurement.case.full_benchmark();
            if !parts.contains(&name) {
                parts.push(name);
            }
        }
        if let Some(session) = &self.session {
            let own = session
                .arms
                .iter()
                .filter(|arm| arm.kind != super::ArmKind::Again);
            parts.extend(own.map(|arm| shell_words::join(&arm.command)));
        }
        if let Some(tuning) = &self.tuning {
            parts.push(shell_words::join(&tuning.command));
        }
        if parts.is_empty() {
            shell_words::join(&self.arguments)
        } else {
            parts.join(", ")
        }
    }

    /// Where it was measured: the fact `host`, else what is known of the machine; empty when nothing is.
    #[must_use]
    pub fn host(&self) -> String {
        let facts = ["host", "cpu_model", "os"];
        facts
            .iter()
            .find_map(|name| self.environment.fact(name))
            .unwrap_or_default()
            .to_owned()
    }
}

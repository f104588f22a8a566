//! What a benchmark is: a name, its parameters, its subjects, and the code that one fresh process runs.
//!
//! A suite lists its benchmarks in one place. The main program reads the descriptions and plans; the worker
//! finds the same benchmark by name and runs it. Nothing that is described here is measured, and nothing that
//! runs in the worker reads a command line or a database.

use std::fmt;

use record::model::{Case, Support, Unit};

use crate::parameter::Parameter;
use crate::trial::{Trial, TrialError};

/// One metric that a benchmark yields beside the ones that the kernel counts for every trial.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
}

/// The description of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The suite's name.
    pub suite: &'static str,
    /// The benchmark's name within the suite.
    pub name: &'static str,
    /// What one operation is and what the benchmark shows, in one sentence.
    pub summary: &'static str,
    /// Its parameters, in the order of the case's name.
    pub parameters: &'static [Parameter],
    /// Its own metrics.
    pub metrics: &'static [MetricInfo],
    /// Named sets of parameter texts: `(preset, [(parameter, text)])`.
    pub presets: &'static [Preset],
    /// Nanoseconds that one operation cannot be faster than; a smaller result means that the compiler deleted
    /// the work, and is an error.
    pub floor_ns: f64,
}

/// A named set of parameter values.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it reproduces.
    pub summary: &'static str,
    /// The parameters that it sets.
    pub settings: &'static [(&'static str, &'static str)],
}

impl Info {
    /// `suite/name`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.suite, self.name)
    }

    /// One of its parameters.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// The code of one primitive.
pub trait Benchmark: Sync {
    /// Its description.
    fn info(&self) -> &'static Info;

    /// Whether a subject of its suite concerns it; one that does not is no case at all.
    fn takes(&self, _subject: &str) -> bool {
        true
    }

    /// Whether this case can run on this machine. Asked by the main program before anything is started.
    fn support(&self, case: &Case) -> Support;

    /// Runs one trial, in the worker.
    ///
    /// # Errors
    /// [`TrialError`] when the work could not be done or did not verify.
    fn run(&self, trial: &mut Trial) -> Result<(), TrialError>;
}

impl fmt::Debug for dyn Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info().full_name())
    }
}

/// What is under test in a suite, as the main program sees it: a name, and how the worker's environment
/// differs when it is under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name after the `@`.
    pub name: String,
    /// What it is, in half a sentence.
    pub summary: String,
    /// Whether it can be had here.
    pub support: Support,
    /// Environment variables of the worker that bring it about.
    pub environment: Vec<(String, String)>,
    /// True when it takes part without being asked for by name.
    pub by_default: bool,
}

//! `underhood.run/1`: what `measure` found.
//!
//! Estimates come first, under the names that DESIGN and users know; the values of the single trials behind
//! them stand in `trials`, so that a reader can do statistics of their own. The raw samples stay in the store:
//! they are a thousand times as many.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{self, Run};

use super::common::{Number, Ordered, WarningDoc, scalar};
use super::environment;

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.run/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix: Number,
    /// `complete`, `interrupted`, `failed` or `open`.
    pub status: String,
    /// The command line.
    pub arguments: Vec<String>,
    /// The seed of everything random in the run, in decimal.
    pub seed: String,
    /// Facts about the host; see [`environment`].
    pub environment: Map<String, Value>,
    /// One entry a case that ran.
    pub measurements: Vec<Measurement>,
    /// One entry a case that could not run.
    pub unsupported: Vec<Unsupported>,
    /// What the reader must know.
    pub warnings: Vec<WarningDoc>,
}

/// One case and its metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The case's full name.
    pub case: String,
    /// Its suite.
    pub suite: String,
    /// Its benchmark.
    pub benchmark: String,
    /// Its parameters, numbers as numbers.
    pub parameters: Ordered<Value>,
    /// Its subject.
    pub subject: String,
    /// The metrics by name, the primary one first.
    pub metrics: Ordered<Metric>,
    /// The trials behind them.
    pub trials: Vec<Trial>,
}

/// One metric of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `ns`, `us`, `1/s`, `B`, `count` or `ratio`.
    pub unit: String,
    /// Hodges-Lehmann estimate over trials.
    pub estimate: Number,
    /// Lower end of the 95 % interval; `null` with fewer than six trials.
    pub low: Option<Number>,
    /// Upper end of the 95 % interval; `null` with fewer than six trials.
    pub high: Option<Number>,
    /// Smallest trial value.
    pub min: Number,
    /// Number of trials.
    pub trials: usize,
    /// What a model predicts, if there is one.
    pub predicted: Option<Number>,
}

/// One fresh process that ran the case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its place in the schedule of the whole run.
    pub position: u32,
    /// The seed of its random numbers, in decimal.
    pub seed: String,
    /// Its value of each metric.
    pub values: Ordered<Number>,
    /// How many raw samples the store keeps of it.
    pub samples: usize,
    /// Why it is to be read with care, if it is.
    pub contaminated: Option<String>,
    /// Counters over time, if they were taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<Point>,
}

/// Counters at one instant of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Nanoseconds since the timed part began.
    pub at_ns: Number,
    /// Voluntary switches of the process, for each second.
    pub voluntary_per_s: Number,
    /// Involuntary switches of the process, for each second.
    pub involuntary_per_s: Number,
    /// Context switches of the whole system, for each second.
    pub system_per_s: Number,
}

/// A case that could not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// The case's name, or the benchmark's.
    pub case: String,
    /// Why, and which setting would change it.
    pub reason: String,
}

impl Document {
    /// The document of a run of `measure`.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            started_unix: run.started_unix.into(),
            status: run.status.word().to_owned(),
            arguments: run.arguments.clone(),
            seed: run.seed.to_string(),
            environment: environment::object(&run.environment),
            measurements: run.measurements.iter().map(measurement).collect(),
            unsupported: run
                .unsupported
                .iter()
                .map(|row| Unsupported {
                    case: row.case.clone(),
                    reason: row.reason.clone(),
                })
                .collect(),
            warnings: WarningDoc::all(&run.warnings),
        }
    }
}

fn measurement(from: &model::Measurement) -> Measurement {
    let parameters = from
        .case
        .parameters
        .iter()
        .map(|(key, value)| (key.clone(), scalar(value)))
        .collect();
    let metric = |m: &model::Metric| Metric {
        unit: m.unit.symbol().to_owned(),
        estimate: m.estimate.into(),
        low: m.low.map(Number),
        high: m.high.map(Number),
        min: m.min.into(),
        trials: m.trials,
        predicted: m.predicted.map(Number),
    };
    Measurement {
        case: from.case.to_string(),
        suite: from.case.suite.clone(),
        benchmark: from.case.benchmark.clone(),
        parameters: Ordered(parameters),
        subject: from.case.subject.clone(),
        metrics: Ordered(from.metrics.iter().map(|m| (m.name.clone(), metric(m))).collect()),
        trials: from.trials.iter().map(trial).collect(),
    }
}

fn trial(from: &model::Trial) -> Trial {
    Trial {
        position: from.position,
        seed: from.seed.to_string(),
        values: Ordered(
            from.values
                .iter()
                .map(|(key, value)| (key.clone(), Number(*value)))
                .collect(),
        ),
        samples: from.samples.len(),
        contaminated: from.contaminated.clone(),
        course: from
            .course
            .iter()
            .map(|p| Point {
                at_ns: p.at_ns.into(),
                voluntary_per_s: p.voluntary_per_s.into(),
                involuntary_per_s: p.involuntary_per_s.into(),
                system_per_s: p.system_per_s.into(),
            })
            .collect(),
    }
}

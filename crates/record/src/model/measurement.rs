//! What benchmarks yield: trials with their raw samples, and the metrics drawn from them.

use super::case::Case;

/// The unit of a metric. The text form is what stands in JSON and in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Events for each second of wall time.
    PerSecond,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
    /// A quotient of two like quantities.
    Ratio,
}

impl Unit {
    /// The short form used in tables and in JSON.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::PerSecond => "1/s",
            Self::Bytes => "B",
            Self::Count => "count",
            Self::Ratio => "ratio",
        }
    }

    /// The unit of a symbol.
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        [
            Self::Nanoseconds,
            Self::Microseconds,
            Self::PerSecond,
            Self::Bytes,
            Self::Count,
            Self::Ratio,
        ]
        .into_iter()
        .find(|unit| unit.symbol() == symbol)
    }
}

/// One point of a trial's course: counters read at regular intervals while the trial ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Nanoseconds since the trial's timed part began.
    pub at_ns: f64,
    /// Voluntary switches of the process since the previous point, for each second.
    pub voluntary_per_s: f64,
    /// Involuntary switches of the process since the previous point, for each second.
    pub involuntary_per_s: f64,
    /// Context switches of the whole system since the previous point, for each second; not a number where
    /// the system does not tell.
    pub system_per_s: f64,
}

/// One fresh process that ran one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Position in the schedule of the whole run, from 0; tells what was interleaved with what.
    pub position: u32,
    /// The seed of this trial's random numbers and of its environment offset.
    pub seed: u64,
    /// Raw samples: nanoseconds per operation of one thread, one value for each timed batch.
    pub samples: Vec<f64>,
    /// One value of each metric, by metric name.
    pub values: Vec<(String, f64)>,
    /// Counters over time, when the benchmark took them.
    pub course: Vec<Point>,
    /// Why this trial is to be read with care (migration, foreign load, throttling), if it is.
    pub contaminated: Option<String>,
}

/// An estimate over trials. The interval is distribution-free at 95 % from six trials on; with fewer it is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The metric's name, for example `ns_per_op`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Hodges-Lehmann estimate over trials.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Smallest trial value.
    pub min: f64,
    /// Number of trials behind the figure.
    pub trials: usize,
    /// What a model says the figure should be, where there is one.
    pub predicted: Option<f64>,
}

/// All trials of one case, and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Which case.
    pub case: Case,
    /// Metrics, the primary one first.
    pub metrics: Vec<Metric>,
    /// The trials behind them.
    pub trials: Vec<Trial>,
}

impl Measurement {
    /// One metric by name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

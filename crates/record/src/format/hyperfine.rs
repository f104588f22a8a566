//! The export format of hyperfine (`--export-json`), so that scripts written for it read our timings too.
//!
//! The fields are those of hyperfine 1.15 and, since 1.19, `memory_usage_byte`; times are in seconds. Two
//! differences of meaning: `memory_usage_byte` is the peak of that run alone (hyperfine's never falls from one run
//! to the next), and `user` and `system` are `null` where the platform does not tell them.

use serde::{Deserialize, Serialize};
use stats::summary::Summary;

use crate::model::{ArmKind, CommandMetric, End, Session};

use super::common::Number;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// One entry a command.
    pub results: Vec<CommandResult>,
}

/// All runs of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    /// The command as one line.
    pub command: String,
    /// Mean wall time.
    pub mean: Number,
    /// Standard deviation of the wall times; `null` for one run.
    pub stddev: Option<Number>,
    /// Median wall time.
    pub median: Number,
    /// Mean time in user mode.
    pub user: Number,
    /// Mean time in the kernel.
    pub system: Number,
    /// Smallest wall time.
    pub min: Number,
    /// Largest wall time.
    pub max: Number,
    /// Every wall time in the order of execution.
    pub times: Vec<Number>,
    /// Peak RSS of every run in bytes, when every run has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_usage_byte: Option<Vec<u64>>,
    /// Every exit status; `null` for a run that a signal or our time limit ended.
    pub exit_codes: Vec<Option<i64>>,
}

impl Document {
    /// The document of a session; a command that never ran is left out, and so is the baseline's double.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let arms = session
            .arms
            .iter()
            .enumerate()
            .filter(|(_, arm)| arm.kind != ArmKind::Again);
        Self {
            results: arms
                .filter_map(|(index, arm)| result(session, index, &arm.name))
                .collect(),
        }
    }
}

fn result(session: &Session, arm: usize, name: &str) -> Option<CommandResult> {
    let seconds = |metric| {
        session
            .values(arm, metric)
            .iter()
            .map(|us| us / 1e6)
            .collect::<Vec<f64>>()
    };
    let mean = |metric| Summary::of(&seconds(metric)).map_or(f64::NAN, |s| s.mean).into();
    let times = seconds(CommandMetric::ToExit);
    let summary = Summary::of(&times)?;
    let rss = session.values(arm, CommandMetric::PeakRss);
    let entries = session
        .blocks
        .iter()
        .flat_map(|block| &block.entries)
        .filter(|entry| entry.arm == arm);
    Some(CommandResult {
        command: name.to_owned(),
        mean: summary.mean.into(),
        stddev: (times.len() > 1).then(|| summary.sd.into()),
        median: summary.median.into(),
        user: mean(CommandMetric::User),
        system: mean(CommandMetric::System),
        min: summary.min.into(),
        max: summary.max.into(),
        memory_usage_byte: (rss.len() == times.len())
            .then(|| rss.iter().map(|bytes| *bytes as u64).collect()),
        times: times.into_iter().map(Number).collect(),
        exit_codes: entries
            .map(|entry| match entry.end {
                End::Exited(status) => Some(status),
                End::Signaled(_) | End::TimedOut | End::Stopped => None,
            })
            .collect(),
    })
}

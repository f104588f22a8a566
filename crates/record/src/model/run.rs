//! A run: one invocation, with what was planned, where, and what came of it.

use super::advice::{Unsupported, Warning};
use super::command::{Comparison, Session};
use super::environment::Environment;
use super::measurement::Measurement;
use super::tuning::Tuning;

/// Which command made the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// `measure`.
    Measure,
    /// `time`.
    Time,
    /// `tune`.
    Tune,
}

impl RunKind {
    /// The command's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Time => "time",
            Self::Tune => "tune",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Measure, Self::Time, Self::Tune]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Still being written, or its process was killed.
    Open,
    /// Ended as planned.
    Complete,
    /// Interrupted; it holds what was measured so far.
    Interrupted,
    /// The measured command failed.
    Failed,
}

impl RunStatus {
    /// The word in the store and in `runs`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Open, Self::Complete, Self::Interrupted, Self::Failed]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// One invocation of a measuring command.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Which command.
    pub kind: RunKind,
    /// Seconds since 1970-01-01 UTC at the start.
    pub started_unix: f64,
    /// The command line, lossily as text.
    pub arguments: Vec<String>,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// Facts about the host.
    pub environment: Environment,
    /// How it ended.
    pub status: RunStatus,
    /// Of `measure`.
    pub measurements: Vec<Measurement>,
    /// Of `measure`: what could not run here.
    pub unsupported: Vec<Unsupported>,
    /// Of `time`: the blocks.
    pub session: Option<Session>,
    /// Of `time`: what they prove; the primary metric first, then by metric and arm.
    pub comparisons: Vec<Comparison>,
    /// Of `tune`.
    pub tuning: Option<Tuning>,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// Checks that every index in the run points at something: a run from a file is not to be believed.
    ///
    /// # Errors
    /// A text that names the first index that does not.
    pub fn check(&self) -> Result<(), String> {
        let none = Session::default();
        let session = self.session.as_ref().unwrap_or(&none);
        session.check()?;
        known(session, &self.comparisons)?;
        let Some(tuning) = &self.tuning else { return Ok(()) };
        tuning.session.check()?;
        known(&tuning.session, &tuning.confirmed)?;
        for arm in &tuning.arms {
            known(&tuning.session, &arm.effect)?;
            known(&tuning.session, &arm.also)?;
            match arm.arm {
                Some(index) if index >= tuning.session.arms.len() => {
                    return Err(format!(
                        "remedy {} points at arm {index}, which is missing",
                        arm.remedy
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Session {
    /// Checks that every entry names an arm.
    fn check(&self) -> Result<(), String> {
        let mut entries = self.blocks.iter().flat_map(|block| &block.entries);
        entries
            .find(|entry| entry.arm >= self.arms.len())
            .map_or(Ok(()), |entry| {
                Err(format!(
                    "a block names arm {}, but there are {}",
                    entry.arm,
                    self.arms.len()
                ))
            })
    }
}

fn known<'a>(session: &Session, comparisons: impl IntoIterator<Item = &'a Comparison>) -> Result<(), String> {
    comparisons
        .into_iter()
        .find(|c| c.arm >= session.arms.len())
        .map_or(Ok(()), |c| {
            Err(format!(
                "a comparison names arm {}, but there are {}",
                c.arm,
                session.arms.len()
            ))
        })
}

//! `underhood.runs/1`: what the store holds.

use serde::{Deserialize, Serialize};

use crate::model::RunSummary;

use super::common::Number;

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.runs/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// One entry a run, the newest first.
    pub runs: Vec<Entry>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number in this store; never given twice.
    pub id: i64,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix: Number,
    /// `measure`, `time` or `tune`.
    pub kind: String,
    /// `complete`, `interrupted`, `failed`, or `open`: still running, or killed.
    pub status: String,
    /// What was measured.
    pub what: String,
    /// Where.
    pub host: String,
}

impl Document {
    /// The document of the runs of a store.
    #[must_use]
    pub fn of(runs: &[RunSummary]) -> Self {
        let entry = |run: &RunSummary| Entry {
            id: run.id.0,
            started_unix: run.started_unix.into(),
            kind: run.kind.name().to_owned(),
            status: run.status.word().to_owned(),
            what: run.what.clone(),
            host: run.host.clone(),
        };
        Self {
            schema: SCHEMA.to_owned(),
            runs: runs.iter().map(entry).collect(),
        }
    }
}

//! Recording: a run is begun, grows, and is finished.
//!
//! Every call is one write transaction that takes its lock at the start, so that two processes queue instead of
//! failing halfway. Nothing that is already stored is touched by an append; `finish` replaces the whole run by its
//! final form in one transaction, so a kill in its midst leaves what was appended.

use rusqlite::TransactionBehavior;

use crate::model::{Block, Case, Measurement, Run, RunId, RunStatus, SessionArm, Trial};

use super::error::{StoreError, explain};
use super::open::Store;
use super::rows::{Failure, Rows, whole};
use super::schema::OF_TIME;

impl Store {
    /// Records that a run has begun, with its arguments, seed and environment; returns its number.
    ///
    /// # Errors
    /// As for every writing call: when the store cannot be written now. The caller warns and goes on.
    pub fn begin(&mut self, run: &Run) -> Result<RunId, StoreError> {
        self.write(|rows| {
            rows.sql(
                "INSERT INTO run (kind, status, started_unix, seed, arguments, what, host, has_session)
                 VALUES ('', '', 0, 0, '', '', '', 0)",
                [],
            )?;
            let id = RunId(rows.transaction.last_insert_rowid());
            rows.header(id, run, RunStatus::Open)?;
            rows.facts(id, run)?;
            Ok(id)
        })
    }

    /// Adds one trial; the first of a case adds the case.
    ///
    /// # Errors
    /// When the run is unknown or the store cannot be written now.
    pub fn append_trial(&mut self, id: RunId, case: &Case, trial: &Trial) -> Result<(), StoreError> {
        self.write(|rows| {
            rows.must_exist(id)?;
            let measurement = match rows.measurement_of(id, case)? {
                Some(ordinal) => ordinal,
                None => rows.new_measurement(id, case)?,
            };
            let ordinal = rows.count(
                "SELECT count(*) FROM trial WHERE run = ?1 AND measurement = ?2",
                [id.0, measurement],
            )?;
            rows.trial(id, measurement, ordinal, trial)
        })
    }

    /// Adds a whole measurement, in place of one of the same case if there is one.
    ///
    /// # Errors
    /// When the run is unknown or the store cannot be written now.
    pub fn append_measurement(&mut self, id: RunId, measurement: &Measurement) -> Result<(), StoreError> {
        self.write(|rows| {
            rows.must_exist(id)?;
            let ordinal = match rows.measurement_of(id, &measurement.case)? {
                Some(ordinal) => {
                    for table in ["metric", "trial", "trial_value"] {
                        rows.sql(
                            &format!("DELETE FROM {table} WHERE run = ?1 AND measurement = ?2"),
                            [id.0, ordinal],
                        )?;
                    }
                    ordinal
                }
                None => rows.new_measurement(id, &measurement.case)?,
            };
            rows.measurement(id, ordinal, measurement)
        })
    }

    /// Sets the commands of a run of `time` or `tune`; must come before its blocks.
    ///
    /// # Errors
    /// When the run is unknown or the store cannot be written now.
    pub fn set_arms(&mut self, id: RunId, arms: &[SessionArm]) -> Result<(), StoreError> {
        self.write(|rows| {
            let session = rows.session_of(id)?;
            rows.sql("DELETE FROM arm WHERE run = ?1 AND session = ?2", [id.0, session])?;
            rows.sql(
                "UPDATE run SET has_session = ?2 WHERE id = ?1",
                [id.0, i64::from(session == OF_TIME)],
            )?;
            rows.arms(id, session, arms)
        })
    }

    /// Adds blocks to a run of `time` or `tune`.
    ///
    /// # Errors
    /// When the run is unknown, a block names an arm that [`Store::set_arms`] did not, or the store cannot be
    /// written now.
    pub fn append_blocks(&mut self, id: RunId, blocks: &[Block]) -> Result<(), StoreError> {
        self.write(|rows| {
            let session = rows.session_of(id)?;
            let arms = rows.count(
                "SELECT count(*) FROM arm WHERE run = ?1 AND session = ?2",
                [id.0, session],
            )?;
            if let Some(entry) = blocks
                .iter()
                .flat_map(|b| &b.entries)
                .find(|entry| whole(entry.arm) >= arms)
            {
                return Err(Failure::Unfit(format!(
                    "a block names arm {}, but there are {arms}",
                    entry.arm
                )));
            }
            let stored = rows.count(
                "SELECT count(*) FROM block WHERE run = ?1 AND session = ?2",
                [id.0, session],
            )?;
            rows.blocks(id, session, stored, blocks)
        })
    }

    /// Replaces a run by its final form, status included.
    ///
    /// # Errors
    /// When the run is unknown, contradicts itself ([`Run::check`]), or the store cannot be written now; what was
    /// stored before is still there then.
    pub fn finish(&mut self, id: RunId, run: &Run) -> Result<(), StoreError> {
        run.check().map_err(|detail| StoreError::Unfit { detail })?;
        self.write(|rows| {
            rows.must_exist(id)?;
            rows.empty(id)?;
            rows.header(id, run, run.status)?;
            rows.facts(id, run)?;
            rows.content(id, run)
        })
    }

    /// Removes a run. The file keeps its size; the room is used for the next runs.
    ///
    /// # Errors
    /// When the run is unknown or the store cannot be written now.
    pub fn delete(&mut self, id: RunId) -> Result<(), StoreError> {
        self.write(|rows| {
            rows.must_exist(id)?;
            rows.empty(id)?;
            rows.sql("DELETE FROM run WHERE id = ?1", [id.0])
        })
    }

    fn write<T>(&mut self, work: impl FnOnce(&Rows<'_>) -> Result<T, Failure>) -> Result<T, StoreError> {
        let Self { connection, path } = self;
        let attempt = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&Rows {
                transaction: &transaction,
            })?;
            transaction.commit()?;
            Ok(done)
        };
        let failure = |failure| match failure {
            Failure::Sql(error) => explain(path, error),
            Failure::NoSuchRun(id) => StoreError::NoSuchRun {
                path: path.clone(),
                id,
            },
            Failure::Unfit(detail) => StoreError::Unfit { detail },
        };
        attempt().map_err(failure)
    }
}

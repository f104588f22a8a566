//! The model as rows: one method for each kind of row, all within one transaction.

use rusqlite::{OptionalExtension, Params, Transaction, params};

use crate::model::{
    Block, Case, Comparison, Entry, Measurement, Metric, Run, RunId, RunKind, RunStatus, Session, SessionArm,
    Trial, TuneArm, Tuning, Warning,
};

use super::schema::{OF_TIME, OF_TUNE, PARTS};
use super::{columns, text};

/// A failure before the file's name is added to it.
pub(super) enum Failure {
    Sql(rusqlite::Error),
    NoSuchRun(RunId),
    Unfit(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

type Done = Result<(), Failure>;

/// A count or an index as SQLite keeps it.
pub(super) fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A write transaction.
pub(super) struct Rows<'t> {
    pub(super) transaction: &'t Transaction<'t>,
}

impl Rows<'_> {
    pub(super) fn sql(&self, sql: &str, params: impl Params) -> Done {
        self.transaction.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }

    pub(super) fn count(&self, sql: &str, params: impl Params) -> Result<i64, Failure> {
        Ok(self
            .transaction
            .prepare_cached(sql)?
            .query_row(params, |row| row.get(0))?)
    }

    pub(super) fn must_exist(&self, id: RunId) -> Done {
        match self.count("SELECT count(*) FROM run WHERE id = ?1", [id.0])? {
            0 => Err(Failure::NoSuchRun(id)),
            _ => Ok(()),
        }
    }

    /// The number of the session that a run's blocks belong to.
    pub(super) fn session_of(&self, id: RunId) -> Result<i64, Failure> {
        let sql = "SELECT kind FROM run WHERE id = ?1";
        let kind: Option<String> = self
            .transaction
            .prepare_cached(sql)?
            .query_row([id.0], |row| row.get(0))
            .optional()?;
        let kind = kind.ok_or(Failure::NoSuchRun(id))?;
        Ok(if kind == RunKind::Tune.name() {
            OF_TUNE
        } else {
            OF_TIME
        })
    }

    pub(super) fn measurement_of(&self, id: RunId, case: &Case) -> Result<Option<i64>, Failure> {
        let sql = "SELECT min(ordinal) FROM measurement WHERE run = ?1 AND case_name = ?2";
        Ok(self
            .transaction
            .prepare_cached(sql)?
            .query_row(params![id.0, case.to_string()], |row| row.get(0))?)
    }

    /// Removes everything of a run but its head.
    pub(super) fn empty(&self, id: RunId) -> Done {
        PARTS
            .iter()
            .try_for_each(|table| self.sql(&format!("DELETE FROM {table} WHERE run = ?1"), [id.0]))
    }

    pub(super) fn header(&self, id: RunId, run: &Run, status: RunStatus) -> Done {
        let clock = run.environment.clock.as_ref();
        self.sql(
            "UPDATE run SET kind = ?2, status = ?3, started_unix = ?4, seed = ?5, arguments = ?6, what = ?7,
                 host = ?8, has_session = ?9, clock_name = ?10, clock_resolution_ns = ?11, clock_cost_ns = ?12,
                 clock_reason = ?13
             WHERE id = ?1",
            params![
                id.0,
                run.kind.name(),
                status.word(),
                run.started_unix,
                text::seed(run.seed),
                text::words(&run.arguments),
                run.what(),
                run.host(),
                run.session.is_some(),
                clock.map(|c| &c.name),
                clock.map(|c| c.resolution_ns),
                clock.map(|c| c.cost_ns),
                clock.map(|c| &c.reason),
            ],
        )
    }

    pub(super) fn facts(&self, id: RunId, run: &Run) -> Done {
        for (ordinal, (name, value)) in run.environment.facts.iter().enumerate() {
            self.sql(
                "INSERT INTO fact VALUES (?1, ?2, ?3, ?4)",
                params![id.0, whole(ordinal), name, value],
            )?;
        }
        Ok(())
    }

    /// Everything that a run found.
    pub(super) fn content(&self, id: RunId, run: &Run) -> Done {
        for (ordinal, measurement) in run.measurements.iter().enumerate() {
            self.new_measurement(id, &measurement.case)?;
            self.measurement(id, whole(ordinal), measurement)?;
        }
        for (ordinal, row) in run.unsupported.iter().enumerate() {
            self.sql(
                "INSERT INTO unsupported VALUES (?1, ?2, ?3, ?4)",
                params![id.0, whole(ordinal), row.case, row.reason],
            )?;
        }
        self.warnings(id, "run", &run.warnings)?;
        if let Some(session) = &run.session {
            self.session(id, OF_TIME, session)?;
        }
        for (ordinal, comparison) in run.comparisons.iter().enumerate() {
            self.comparison(id, "run", 0, whole(ordinal), comparison)?;
        }
        run.tuning
            .as_ref()
            .map_or(Ok(()), |tuning| self.tuning(id, tuning))
    }

    /// A case without results; its number is the next one of the run.
    pub(super) fn new_measurement(&self, id: RunId, case: &Case) -> Result<i64, Failure> {
        let ordinal = self.count("SELECT count(*) FROM measurement WHERE run = ?1", [id.0])?;
        self.sql(
            "INSERT INTO measurement VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                id.0,
                ordinal,
                case.to_string(),
                case.suite,
                case.benchmark,
                text::pairs(&case.parameters),
                case.subject
            ],
        )?;
        Ok(ordinal)
    }

    /// The results of a case.
    pub(super) fn measurement(&self, id: RunId, ordinal: i64, measurement: &Measurement) -> Done {
        for (place, metric) in measurement.metrics.iter().enumerate() {
            self.metric(id, ordinal, whole(place), metric)?;
        }
        for (place, trial) in measurement.trials.iter().enumerate() {
            self.trial(id, ordinal, whole(place), trial)?;
        }
        Ok(())
    }

    fn metric(&self, id: RunId, measurement: i64, ordinal: i64, metric: &Metric) -> Done {
        self.sql(
            "INSERT INTO metric VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                id.0,
                measurement,
                ordinal,
                metric.name,
                metric.unit.symbol(),
                metric.estimate,
                metric.low,
                metric.high,
                metric.min,
                whole(metric.trials),
                metric.predicted,
            ],
        )
    }

    pub(super) fn trial(&self, id: RunId, measurement: i64, ordinal: i64, trial: &Trial) -> Done {
        let pack = |columns: &[&[f64]]| {
            columns::pack(columns)
                .map_err(|error| Failure::Unfit(format!("samples cannot be packed: {error}")))
        };
        let column =
            |part: fn(&crate::model::Point) -> f64| trial.course.iter().map(part).collect::<Vec<_>>();
        let course = [
            column(|point| point.at_ns),
            column(|point| point.voluntary_per_s),
            column(|point| point.involuntary_per_s),
            column(|point| point.system_per_s),
        ];
        self.sql(
            "INSERT INTO trial VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                id.0,
                measurement,
                ordinal,
                trial.position,
                text::seed(trial.seed),
                trial.contaminated,
                whole(trial.samples.len()),
                pack(&[&trial.samples])?,
                whole(trial.course.len()),
                pack(&course.each_ref().map(Vec::as_slice))?,
            ],
        )?;
        for (place, (name, value)) in trial.values.iter().enumerate() {
            self.sql(
                "INSERT INTO trial_value VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![id.0, measurement, ordinal, whole(place), name, value],
            )?;
        }
        Ok(())
    }

    fn warnings(&self, id: RunId, source: &str, warnings: &[Warning]) -> Done {
        for (ordinal, warning) in warnings.iter().enumerate() {
            self.sql(
                "INSERT INTO warning VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id.0, source, whole(ordinal), warning.code, warning.advice],
            )?;
        }
        Ok(())
    }

    fn session(&self, id: RunId, number: i64, session: &Session) -> Done {
        self.arms(id, number, &session.arms)?;
        self.blocks(id, number, 0, &session.blocks)
    }

    pub(super) fn arms(&self, id: RunId, session: i64, arms: &[SessionArm]) -> Done {
        for (ordinal, arm) in arms.iter().enumerate() {
            self.sql(
                "INSERT INTO arm VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    id.0,
                    session,
                    whole(ordinal),
                    arm.name,
                    text::words(&arm.command),
                    text::arm_kind(arm.kind)
                ],
            )?;
        }
        Ok(())
    }

    /// Blocks, the first of them in place `first`.
    pub(super) fn blocks(&self, id: RunId, session: i64, first: i64, blocks: &[Block]) -> Done {
        for (ordinal, block) in (first..).zip(blocks) {
            self.sql(
                "INSERT INTO block VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    id.0,
                    session,
                    ordinal,
                    block.index,
                    text::seed(block.seed),
                    block.stage
                ],
            )?;
            for (place, entry) in block.entries.iter().enumerate() {
                self.entry([id.0, session, ordinal, whole(place)], entry)?;
            }
        }
        Ok(())
    }

    fn entry(&self, [id, session, block, ordinal]: [i64; 4], entry: &Entry) -> Done {
        let (ended, code) = text::end(entry.end);
        self.sql(
            "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                id,
                session,
                block,
                ordinal,
                whole(entry.arm),
                whole(entry.position),
                ended,
                code,
                entry.peak_rss_is_upper_bound,
                entry.strays,
            ],
        )?;
        for (place, (metric, value)) in entry.values.iter().enumerate() {
            self.sql(
                "INSERT INTO entry_value VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![id, session, block, ordinal, whole(place), metric.name(), value],
            )?;
        }
        Ok(())
    }

    fn comparison(&self, id: RunId, role: &str, owner: i64, ordinal: i64, comparison: &Comparison) -> Done {
        self.sql(
            "INSERT INTO comparison VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                id.0,
                role,
                owner,
                ordinal,
                comparison.metric.name(),
                whole(comparison.arm),
                comparison.ratio,
                comparison.low,
                comparison.high,
                comparison.verdict.word(),
                whole(comparison.blocks),
                comparison.smallest_detectable,
                comparison.sign_flip_p,
                comparison.fixed_n.map(|(low, _)| low),
                comparison.fixed_n.map(|(_, high)| high),
            ],
        )
    }

    fn tuning(&self, id: RunId, tuning: &Tuning) -> Done {
        let noise = tuning.noise_floor;
        self.sql(
            "INSERT INTO tuning VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                id.0,
                text::words(&tuning.command),
                tuning.goal,
                noise.is_some(),
                noise.map(|floor| floor.ratio),
                noise.map(|floor| floor.low),
                noise.map(|floor| floor.high),
                tuning.winner,
                tuning.sentence,
            ],
        )?;
        for (ordinal, arm) in tuning.arms.iter().enumerate() {
            self.tune_arm(id, whole(ordinal), arm)?;
        }
        if let Some(confirmed) = &tuning.confirmed {
            self.comparison(id, "confirmed", 0, 0, confirmed)?;
        }
        self.warnings(id, "tuning", &tuning.warnings)?;
        self.session(id, OF_TUNE, &tuning.session)
    }

    fn tune_arm(&self, id: RunId, ordinal: i64, arm: &TuneArm) -> Done {
        self.sql(
            "INSERT INTO tune_arm VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                id.0,
                ordinal,
                arm.remedy,
                arm.arm.map(whole),
                arm.state.word(),
                arm.reason,
                arm.in_effect,
                arm.output_identical,
                whole(arm.runs),
            ],
        )?;
        if let Some(effect) = &arm.effect {
            self.comparison(id, "effect", ordinal, 0, effect)?;
        }
        for (place, also) in arm.also.iter().enumerate() {
            self.comparison(id, "also", ordinal, whole(place), also)?;
        }
        Ok(())
    }
}

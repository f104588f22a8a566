//! Listing and loading.
//!
//! Nothing in the file is believed: a row that is missing, stands in the wrong place, holds a word that the model
//! does not know or points at something that is not there makes the store damaged, with the place in the message.

use rusqlite::types::FromSql;
use rusqlite::{Params, Row, Transaction};

use crate::model::{
    Block, Case, ClockFacts, CommandMetric, Comparison, Entry, Environment, Measurement, Metric, NoiseFloor,
    Point, Run, RunId, RunKind, RunStatus, RunSummary, Session, SessionArm, Trial, TuneArm, TuneArmState,
    Tuning, Unit, Unsupported, Verdict, Warning,
};

use super::budget::Budget;
use super::error::{StoreError, explain};
use super::open::Store;
use super::schema::{OF_TIME, OF_TUNE};
use super::{columns, text};

/// Which runs to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of one command.
    pub kind: Option<RunKind>,
    /// Only the newest so many.
    pub limit: Option<usize>,
}

/// A failure before the file's name is added to it.
enum Failure {
    Sql(rusqlite::Error),
    NoSuchRun(RunId),
    Damaged(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<String> for Failure {
    fn from(detail: String) -> Self {
        Self::Damaged(detail)
    }
}

type Read<T> = Result<T, Failure>;

impl Store {
    /// The runs, the newest first.
    ///
    /// # Errors
    /// When the store is damaged or cannot be read now.
    pub fn list(&mut self, filter: Filter) -> Result<Vec<RunSummary>, StoreError> {
        self.read(|reader| reader.list(filter))
    }

    /// The newest run, if there is one; a run that is still being written counts.
    ///
    /// # Errors
    /// As for [`Store::list`].
    pub fn latest(&mut self) -> Result<Option<RunId>, StoreError> {
        let newest = self.list(Filter {
            kind: None,
            limit: Some(1),
        })?;
        Ok(newest.first().map(|run| run.id))
    }

    /// A whole run, equal to what was recorded. A run whose process was killed comes back with what it had found
    /// so far and the status open; the blocks of a killed `tune` stand in [`Run::session`] then.
    ///
    /// # Errors
    /// When there is no such run, the store is damaged or cannot be read now.
    pub fn load(&mut self, id: RunId) -> Result<Run, StoreError> {
        self.read(|reader| reader.run(id))
    }

    fn read<T>(&mut self, work: impl FnOnce(&mut Reader<'_>) -> Read<T>) -> Result<T, StoreError> {
        let Self { connection, path } = self;
        // One transaction: all rows are of one instant, whatever others write meanwhile.
        let attempt = || {
            work(&mut Reader {
                transaction: &connection.transaction()?,
                budget: Budget::new(),
            })
        };
        attempt().map_err(|failure| match failure {
            Failure::Sql(error) => explain(path, error),
            Failure::NoSuchRun(id) => StoreError::NoSuchRun {
                path: path.clone(),
                id,
            },
            Failure::Damaged(detail) => StoreError::Damaged {
                path: path.clone(),
                detail,
            },
        })
    }
}

/// A read transaction with the budget of what it may hold.
struct Reader<'t> {
    transaction: &'t Transaction<'t>,
    budget: Budget,
}

fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Read<T> {
    Ok(row.get(column)?)
}

/// A figure; `NULL` is "not a number".
fn figure(row: &Row<'_>, column: &str) -> Read<f64> {
    Ok(get::<Option<f64>>(row, column)?.unwrap_or(f64::NAN))
}

/// An index, a count: a number that is not negative and fits.
fn number<T: TryFrom<i64>>(row: &Row<'_>, column: &str) -> Read<T> {
    let value: i64 = get(row, column)?;
    T::try_from(value).map_err(|_| Failure::Damaged(format!("{column} is {value}")))
}

/// A word of the model.
fn word<T>(row: &Row<'_>, column: &str, parse: impl FnOnce(&str) -> Option<T>) -> Read<T> {
    let text: String = get(row, column)?;
    parse(&text)
        .ok_or_else(|| Failure::Damaged(format!("{column} is {text:.60?}, a word that it does not know")))
}

/// Takes a row into its place; rows come sorted, so another place means that one is missing.
fn place<T>(list: &mut Vec<T>, row: &Row<'_>, value: T) -> Read<()> {
    let ordinal: usize = number(row, "ordinal")?;
    if ordinal != list.len() {
        return Err(Failure::Damaged(format!(
            "row {} is missing before row {ordinal}",
            list.len()
        )));
    }
    list.push(value);
    Ok(())
}

/// The owner of a row.
fn owner<'a, T>(list: &'a mut [T], row: &Row<'_>, column: &str) -> Read<&'a mut T> {
    let index: usize = number(row, column)?;
    list.get_mut(index)
        .ok_or_else(|| Failure::Damaged(format!("a row belongs to {column} {index}, which is missing")))
}

impl Reader<'_> {
    /// Calls `take` for every row, each paid for.
    fn each(
        &mut self,
        sql: &str,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>, &mut Budget) -> Read<()>,
    ) -> Read<()> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            let mut content = 0;
            for column in 0..width {
                content += row
                    .get_ref(column)?
                    .as_bytes_or_null()
                    .ok()
                    .flatten()
                    .map_or(0, <[u8]>::len);
            }
            self.budget.row(content)?;
            take(row, &mut self.budget)?;
        }
        Ok(())
    }

    fn list(&mut self, filter: Filter) -> Read<Vec<RunSummary>> {
        let limit = filter
            .limit
            .and_then(|limit| i64::try_from(limit).ok())
            .unwrap_or(-1);
        let mut list = Vec::new();
        self.each(
            "SELECT id, started_unix, kind, status, what, host FROM run WHERE ?1 IS NULL OR kind = ?1
             ORDER BY id DESC LIMIT ?2",
            (filter.kind.map(RunKind::name), limit),
            |row, _| {
                list.push(RunSummary {
                    id: RunId(get(row, "id")?),
                    started_unix: figure(row, "started_unix")?,
                    kind: word(row, "kind", RunKind::from_name)?,
                    status: word(row, "status", RunStatus::from_word)?,
                    what: get(row, "what")?,
                    host: get(row, "host")?,
                });
                Ok(())
            },
        )?;
        Ok(list)
    }

    fn run(&mut self, id: RunId) -> Read<Run> {
        let mut run = None;
        let mut has_session = false;
        self.each("SELECT * FROM run WHERE id = ?1", [id.0], |row, _| {
            has_session = get(row, "has_session")?;
            run = Some(head(row)?);
            Ok(())
        })?;
        let mut run = run.ok_or(Failure::NoSuchRun(id))?;
        self.each(
            "SELECT * FROM fact WHERE run = ?1 ORDER BY ordinal",
            [id.0],
            |row, _| {
                place(
                    &mut run.environment.facts,
                    row,
                    (get(row, "name")?, get(row, "value")?),
                )
            },
        )?;
        run.measurements = self.measurements(id)?;
        self.each(
            "SELECT * FROM unsupported WHERE run = ?1 ORDER BY ordinal",
            [id.0],
            |row, _| {
                let missing = Unsupported {
                    case: get(row, "case_name")?,
                    reason: get(row, "reason")?,
                };
                place(&mut run.unsupported, row, missing)
            },
        )?;
        run.warnings = self.warnings(id, "run")?;
        run.comparisons = self.comparisons(id, "run", 0)?;
        let session = self.session(id, OF_TIME)?;
        run.session = has_session.then_some(session);
        let session = self.session(id, OF_TUNE)?;
        run.tuning = self.tuning(id)?;
        match &mut run.tuning {
            Some(tuning) => tuning.session = session,
            None if session != Session::default() => run.session = Some(session),
            None => {}
        }
        run.check()?;
        Ok(run)
    }

    fn measurements(&mut self, id: RunId) -> Read<Vec<Measurement>> {
        let mut list: Vec<Measurement> = Vec::new();
        self.each(
            "SELECT * FROM measurement WHERE run = ?1 ORDER BY ordinal",
            [id.0],
            |row, _| {
                let case = Case {
                    suite: get(row, "suite")?,
                    benchmark: get(row, "benchmark")?,
                    parameters: text::parse_pairs(&get::<String>(row, "parameters")?)?,
                    subject: get(row, "subject")?,
                };
                place(
                    &mut list,
                    row,
                    Measurement {
                        case,
                        metrics: Vec::new(),
                        trials: Vec::new(),
                    },
                )
            },
        )?;
        self.each(
            "SELECT * FROM metric WHERE run = ?1 ORDER BY measurement, ordinal",
            [id.0],
            |row, _| {
                let metric = Metric {
                    name: get(row, "name")?,
                    unit: word(row, "unit", Unit::from_symbol)?,
                    estimate: figure(row, "estimate")?,
                    low: get(row, "low")?,
                    high: get(row, "high")?,
                    min: figure(row, "min")?,
                    trials: number(row, "trials")?,
                    predicted: get(row, "predicted")?,
                };
                place(&mut owner(&mut list, row, "measurement")?.metrics, row, metric)
            },
        )?;
        self.each(
            "SELECT * FROM trial WHERE run = ?1 ORDER BY measurement, ordinal",
            [id.0],
            |row, budget| {
                place(
                    &mut owner(&mut list, row, "measurement")?.trials,
                    row,
                    trial(row, budget)?,
                )
            },
        )?;
        self.each(
            "SELECT * FROM trial_value WHERE run = ?1 ORDER BY measurement, trial, ordinal",
            [id.0],
            |row, _| {
                let trial = owner(&mut owner(&mut list, row, "measurement")?.trials, row, "trial")?;
                place(&mut trial.values, row, (get(row, "name")?, figure(row, "value")?))
            },
        )?;
        Ok(list)
    }

    fn warnings(&mut self, id: RunId, source: &str) -> Read<Vec<Warning>> {
        let mut list = Vec::new();
        let sql = "SELECT * FROM warning WHERE run = ?1 AND source = ?2 ORDER BY ordinal";
        self.each(sql, (id.0, source), |row, _| {
            place(
                &mut list,
                row,
                Warning {
                    code: get(row, "code")?,
                    advice: get(row, "advice")?,
                },
            )
        })?;
        Ok(list)
    }

    fn session(&mut self, id: RunId, number_of: i64) -> Read<Session> {
        let mut session = Session::default();
        let key = (id.0, number_of);
        self.each(
            "SELECT * FROM arm WHERE run = ?1 AND session = ?2 ORDER BY ordinal",
            key,
            |row, _| {
                let arm = SessionArm {
                    name: get(row, "name")?,
                    command: text::parse_words(&get::<String>(row, "command")?)?,
                    kind: text::parse_arm_kind(&get::<String>(row, "kind")?)?,
                };
                place(&mut session.arms, row, arm)
            },
        )?;
        self.each(
            "SELECT * FROM block WHERE run = ?1 AND session = ?2 ORDER BY ordinal",
            key,
            |row, _| {
                let block = Block {
                    index: number(row, "block_index")?,
                    seed: text::parse_seed(get(row, "seed")?),
                    stage: get(row, "stage")?,
                    entries: Vec::new(),
                };
                place(&mut session.blocks, row, block)
            },
        )?;
        let sql = "SELECT * FROM entry WHERE run = ?1 AND session = ?2 ORDER BY block, ordinal";
        self.each(sql, key, |row, _| {
            let entry = Entry {
                arm: number(row, "arm")?,
                position: number(row, "position")?,
                end: text::parse_end(&get::<String>(row, "ended")?, get(row, "code")?)?,
                values: Vec::new(),
                peak_rss_is_upper_bound: get(row, "upper_bound")?,
                strays: number(row, "strays")?,
            };
            place(&mut owner(&mut session.blocks, row, "block")?.entries, row, entry)
        })?;
        let sql = "SELECT * FROM entry_value WHERE run = ?1 AND session = ?2 ORDER BY block, entry, ordinal";
        self.each(sql, key, |row, _| {
            let value = (
                word(row, "metric", CommandMetric::from_name)?,
                figure(row, "value")?,
            );
            let entry = owner(
                &mut owner(&mut session.blocks, row, "block")?.entries,
                row,
                "entry",
            )?;
            place(&mut entry.values, row, value)
        })?;
        Ok(session)
    }

    fn comparisons(&mut self, id: RunId, role: &str, owner: i64) -> Read<Vec<Comparison>> {
        let mut list = Vec::new();
        let sql = "SELECT * FROM comparison WHERE run = ?1 AND role = ?2 AND owner = ?3 ORDER BY ordinal";
        self.each(sql, (id.0, role, owner), |row, _| {
            let fixed: (Option<f64>, Option<f64>) = (get(row, "fixed_low")?, get(row, "fixed_high")?);
            let comparison = Comparison {
                metric: word(row, "metric", CommandMetric::from_name)?,
                arm: number(row, "arm")?,
                ratio: figure(row, "ratio")?,
                low: figure(row, "low")?,
                high: figure(row, "high")?,
                verdict: word(row, "verdict", Verdict::from_word)?,
                blocks: number(row, "blocks")?,
                smallest_detectable: get(row, "smallest_detectable")?,
                sign_flip_p: get(row, "sign_flip_p")?,
                fixed_n: fixed.0.zip(fixed.1),
            };
            place(&mut list, row, comparison)
        })?;
        Ok(list)
    }

    fn tuning(&mut self, id: RunId) -> Read<Option<Tuning>> {
        let mut tuning = None;
        self.each("SELECT * FROM tuning WHERE run = ?1", [id.0], |row, _| {
            let noise = NoiseFloor {
                ratio: figure(row, "noise_ratio")?,
                low: figure(row, "noise_low")?,
                high: figure(row, "noise_high")?,
            };
            tuning = Some(Tuning {
                command: text::parse_words(&get::<String>(row, "command")?)?,
                goal: get(row, "goal")?,
                noise_floor: get::<bool>(row, "has_noise")?.then_some(noise),
                arms: Vec::new(),
                winner: get(row, "winner")?,
                confirmed: None,
                sentence: get(row, "sentence")?,
                session: Session::default(),
                warnings: Vec::new(),
            });
            Ok(())
        })?;
        let Some(mut tuning) = tuning else { return Ok(None) };
        self.each(
            "SELECT * FROM tune_arm WHERE run = ?1 ORDER BY ordinal",
            [id.0],
            |row, _| {
                let arm = TuneArm {
                    remedy: get(row, "remedy")?,
                    arm: match get::<Option<i64>>(row, "arm")? {
                        Some(_) => Some(number(row, "arm")?),
                        None => None,
                    },
                    state: word(row, "state", TuneArmState::from_word)?,
                    reason: get(row, "reason")?,
                    in_effect: get(row, "in_effect")?,
                    output_identical: get(row, "output_identical")?,
                    effect: None,
                    also: Vec::new(),
                    runs: number(row, "runs")?,
                };
                place(&mut tuning.arms, row, arm)
            },
        )?;
        for (ordinal, arm) in (0..).zip(&mut tuning.arms) {
            arm.effect = self.comparisons(id, "effect", ordinal)?.pop();
            arm.also = self.comparisons(id, "also", ordinal)?;
        }
        tuning.confirmed = self.comparisons(id, "confirmed", 0)?.pop();
        tuning.warnings = self.warnings(id, "tuning")?;
        Ok(Some(tuning))
    }
}

fn head(row: &Row<'_>) -> Read<Run> {
    let clock = match get::<Option<String>>(row, "clock_name")? {
        Some(name) => Some(ClockFacts {
            name,
            resolution_ns: figure(row, "clock_resolution_ns")?,
            cost_ns: figure(row, "clock_cost_ns")?,
            reason: get::<Option<String>>(row, "clock_reason")?.unwrap_or_default(),
        }),
        None => None,
    };
    Ok(Run {
        kind: word(row, "kind", RunKind::from_name)?,
        started_unix: figure(row, "started_unix")?,
        arguments: text::parse_words(&get::<String>(row, "arguments")?)?,
        seed: text::parse_seed(get(row, "seed")?),
        environment: Environment {
            facts: Vec::new(),
            clock,
        },
        status: word(row, "status", RunStatus::from_word)?,
        measurements: Vec::new(),
        unsupported: Vec::new(),
        session: None,
        comparisons: Vec::new(),
        tuning: None,
        warnings: Vec::new(),
    })
}

fn trial(row: &Row<'_>, budget: &mut Budget) -> Read<Trial> {
    let samples: Vec<u8> = get(row, "samples")?;
    let course: Vec<u8> = get(row, "course")?;
    let mut samples = columns::unpack(&samples, number(row, "samples_count")?, 1, budget)?;
    let course = columns::unpack(&course, number(row, "course_count")?, 4, budget)?;
    let points = (0..course[0].len()).map(|i| Point {
        at_ns: course[0][i],
        voluntary_per_s: course[1][i],
        involuntary_per_s: course[2][i],
        system_per_s: course[3][i],
    });
    Ok(Trial {
        position: number(row, "position")?,
        seed: text::parse_seed(get(row, "seed")?),
        samples: samples.pop().unwrap_or_default(),
        values: Vec::new(),
        course: points.collect(),
        contaminated: get(row, "contaminated")?,
    })
}

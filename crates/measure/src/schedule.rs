//! The schedule of trials: every case once a round, in an order drawn at random for each round.
//!
//! So all cases share the machine's good and bad minutes, and an interrupted run has the same number of trials of
//! every case, give or take one. A trial is a fresh process; within a round all have the same environment
//! padding, which moves the stack, and between rounds it differs: layout bias becomes noise that the interval shows.

use std::time::{Duration, Instant};

use record::model::{Trial as TrialRecord, Warning};

use crate::case_plan::PlannedCase;
use crate::protocol::{Job, TrialReport};

/// The largest padding of a trial's environment, in bytes.
pub const MAX_PADDING: usize = 4096;

/// How much is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials of each case.
    pub trials: u32,
    /// Timed part of one trial.
    pub trial_time: Duration,
    /// How long one sample should last.
    pub sample_time: Duration,
    /// No new round starts after this time, once every case has been tried.
    pub budget: Duration,
}

/// What a trial is started with.
#[derive(Clone, Debug)]
pub struct TrialSpec<'a> {
    /// The case, with the environment that its subject needs.
    pub planned: &'a PlannedCase,
    /// The job for the worker.
    pub job: Job,
    /// Bytes of padding in the environment.
    pub padding: usize,
}

/// Runs one trial; a real one starts a worker, a fake one is a test.
pub trait TrialRunner {
    /// Runs the trial.
    ///
    /// # Errors
    /// [`RunTrialError`].
    fn run(&mut self, spec: &TrialSpec<'_>) -> Result<TrialReport, RunTrialError>;
}

/// Why a trial gave no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunTrialError {
    /// The user wants to stop.
    Interrupted,
    /// This trial failed; others may not.
    Failed(String),
}

/// The processors that a case may use: `cpus` says how many, absent or 0 means all.
pub trait Placer {
    /// The processors of a case; empty for all.
    ///
    /// # Errors
    /// The reason why they cannot be had.
    fn cpus(&self, planned: &PlannedCase) -> Result<Vec<usize>, String>;
}

/// What came of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The trials of each planned case, in the plan's order.
    pub trials: Vec<Vec<TrialRecord>>,
    /// The first failure of each case that failed, by index of the case.
    pub failures: Vec<(usize, String)>,
    /// True when the user stopped it.
    pub interrupted: bool,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}

/// Progress of a schedule, told after every trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Trials done.
    pub done: usize,
    /// Trials planned.
    pub total: usize,
    /// Expected time until the end.
    pub remaining: Duration,
}

/// Runs all trials of a plan; `tell` hears the progress and every finished trial.
pub fn run(
    cases: &[PlannedCase],
    effort: Effort,
    seed: u64,
    placer: &dyn Placer,
    runner: &mut dyn TrialRunner,
    tell: &mut dyn FnMut(Progress, usize, Option<&TrialRecord>),
) -> Outcome {
    let mut outcome = Outcome {
        trials: vec![Vec::new(); cases.len()],
        ..Outcome::default()
    };
    let mut random = fastrand::Rng::with_seed(seed);
    let start = Instant::now();
    let mut alive: Vec<usize> = (0..cases.len()).collect();
    let (mut done, mut position) = (0, 0);
    for round in 0..effort.trials {
        if round > 0 && start.elapsed() > effort.budget {
            outcome.warnings.push(Warning::new(
                "budget-ended",
                format!(
                    "the time was up after {round} of {} trials; give --budget more for narrower intervals",
                    effort.trials
                ),
            ));
            break;
        }
        let padding = random.usize(0..MAX_PADDING);
        let mut order = alive.clone();
        random.shuffle(&mut order);
        for index in order {
            let planned = &cases[index];
            let seed = random.u64(..);
            let result = placer
                .cpus(planned)
                .map_err(RunTrialError::Failed)
                .and_then(|cpus| {
                    let job = Job {
                        case: planned.case.clone(),
                        seed,
                        budget_ns: nanoseconds(effort.trial_time),
                        sample_ns: nanoseconds(effort.sample_time),
                        cpus,
                    };
                    runner.run(&TrialSpec {
                        planned,
                        job,
                        padding,
                    })
                });
            let record = match result {
                Ok(report) => Some(TrialRecord {
                    position,
                    seed,
                    samples: report.samples,
                    values: report.values,
                    course: report.course,
                    contaminated: report.contaminated,
                }),
                Err(RunTrialError::Interrupted) => {
                    outcome.interrupted = true;
                    return outcome;
                }
                Err(RunTrialError::Failed(reason)) => {
                    // What fails once in a fresh process fails again: the case is out, and said to be.
                    alive.retain(|&other| other != index);
                    outcome.failures.push((index, reason));
                    None
                }
            };
            position += 1;
            done += 1;
            let total = done + alive.len() * (effort.trials - round) as usize
                - turns_taken(&alive, &outcome.trials, round);
            let mean = start.elapsed() / u32::try_from(done).unwrap_or(u32::MAX).max(1);
            let remaining = mean * u32::try_from(total.saturating_sub(done)).unwrap_or(u32::MAX);
            let remaining = remaining.min(effort.budget.saturating_sub(start.elapsed()).max(mean));
            tell(
                Progress {
                    done,
                    total,
                    remaining,
                },
                index,
                record.as_ref(),
            );
            outcome.trials[index].extend(record);
        }
    }
    outcome
}

/// How many of the cases still alive have had their turn in this round already.
fn turns_taken(alive: &[usize], trials: &[Vec<TrialRecord>], round: u32) -> usize {
    alive
        .iter()
        .filter(|&&index| trials[index].len() > round as usize)
        .count()
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

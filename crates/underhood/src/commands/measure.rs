//! `underhood measure`: plan, run trials, record, report.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use measure::benchmark::Benchmark;
use measure::case_plan::{self, Plan, PlannedCase, Request};
use measure::schedule::{self, Effort, Placer};
use measure::worker::WorkerRunner;
use measure::{selector, summarise};
use os::topology::{Placement, Topology};
use record::model::{Measurement, Run, RunKind, RunStatus, Unsupported, Warning};

use crate::context::Context;
use crate::exit::{Done, Failure, INTERRUPTED, UNSUPPORTED};
use crate::load_sets;
use crate::machine;
use crate::progress::Progress;

/// Arguments of `measure`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure: a suite (heap, load), a benchmark (heap/heaptest), or a pattern with *; nothing means all
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// Values of a parameter, as a list; repeatable
    #[arg(long, value_name = "NAME=LIST", value_parser = setting)]
    set: Vec<(String, String)>,
    /// What to put under test, separated by commas; see `list`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    subject: Vec<String>,
    /// A named set of parameters, for example seed
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Fewer and shorter trials: the whole suite within a minute or so
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// More and longer trials, narrow intervals
    #[arg(long)]
    full: bool,
    /// Trials of each case; six are the fewest that give an interval
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), allow_negative_numbers = true)]
    runs: Option<u32>,
    /// Seconds of the timed part of one trial
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    seconds: Option<Duration>,
    /// No new round of trials starts after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    budget: Option<Duration>,
    /// Show every metric
    #[arg(long)]
    details: bool,
    /// Put the sets of the load suite into these folders, for example on several file systems
    #[arg(long, value_name = "DIR,DIR", value_delimiter = ',')]
    dir: Vec<PathBuf>,
    /// The article's table: a PE program as linked, based, and bound, by name and by ordinal, with the published figures (load)
    #[arg(long, conflicts_with_all = ["subject", "preset"])]
    table: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, list)) if !name.is_empty() => Ok((name.to_owned(), list.to_owned())),
        _ => Err("it is not NAME=LIST; a right one is threads=1,8,1,1".to_owned()),
    }
}

/// A positive number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text
        .trim_end_matches('s')
        .parse()
        .map_err(|_| "it is not a number of seconds, such as 2.5".to_owned())?;
    match Duration::try_from_secs_f64(value) {
        Ok(time) if !time.is_zero() && value <= 1e7 => Ok(time),
        _ => Err("it must be more than 0 and at most 10 million seconds".to_owned()),
    }
}

/// How much effort a profile is.
fn effort(args: &Args) -> Effort {
    let ms = Duration::from_millis;
    // Without a selector the whole must end within two minutes, with the compilation of nothing in it.
    let quick = args.quick || (args.selectors.is_empty() && !args.full);
    let (trials, time, budget) = match (quick, args.full) {
        (true, _) => (6, ms(60), Duration::from_secs(100)),
        (_, true) => (20, ms(1000), Duration::from_secs(24 * 3600)),
        _ => (8, ms(250), Duration::from_secs(600)),
    };
    let trial_time = args.seconds.unwrap_or(time);
    Effort {
        trials: args.runs.unwrap_or(trials),
        trial_time,
        sample_time: (trial_time / 6).clamp(ms(5), ms(20)),
        budget: args.budget.unwrap_or(budget),
    }
}

/// The seconds since 1970.
pub fn now_unix() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64())
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let mut plan = plan(&args)?;
    let (sets, places) = load_sets::provide(&mut plan, &args.dir, context.common.quiet)?;
    let mut run = Run {
        kind: RunKind::Measure,
        started_unix: now_unix(),
        arguments: machine::shown(&std::env::args_os().skip(1).collect::<Vec<_>>()),
        seed: context.seed,
        environment: machine::environment(),
        status: RunStatus::Open,
        measurements: Vec::new(),
        unsupported: plan.unsupported.clone(),
        session: None,
        comparisons: Vec::new(),
        tuning: None,
        warnings: places,
    };
    if plan.cases.is_empty() {
        run.status = RunStatus::Complete;
    } else {
        measure_all(&plan.cases, effort(&args), &mut run, context)?;
    }
    drop(sets);
    let document = record::format::to_text(&record::format::run::Document::of(&run));
    let report = if args.table {
        report::measure::article::report(&run)
    } else {
        report::of(&run, args.details)
    };
    context.publish(&report, &document)?;
    Ok(Done(match run.status {
        RunStatus::Interrupted => INTERRUPTED,
        _ if run.measurements.is_empty() => UNSUPPORTED,
        _ => 0,
    }))
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let all = suites::benchmarks();
    let infos: Vec<_> = all.iter().map(|benchmark| benchmark.info()).collect();
    let selectors = if args.table {
        table_selectors(&args.selectors)?
    } else {
        args.selectors.clone()
    };
    let chosen = selector::select(&selectors, &infos).map_err(Failure::usage)?;
    let chosen: Vec<&'static dyn Benchmark> = all
        .into_iter()
        .filter(|benchmark| chosen.iter().any(|info| std::ptr::eq(*info, benchmark.info())))
        .collect();
    let request = Request {
        settings: args.set.clone(),
        subjects: args.subject.clone(),
        preset: args.preset.clone(),
    };
    let mut plan = case_plan::plan(&chosen, &request, &mut |suite| {
        suites::subjects(suite, &machine::artifact)
    })
    .map_err(Failure::usage)?;
    refuse_missing_processors(&mut plan);
    Ok(plan)
}

/// The table is made of one benchmark, whose suite alone may be named.
fn table_selectors(given: &[String]) -> Result<Vec<String>, Failure> {
    let benchmark = "load/pe".to_owned();
    match given {
        [] => Ok(vec![benchmark]),
        [one] if one == "load" || *one == benchmark => Ok(vec![benchmark]),
        _ => Err(Failure::usage(
            "make the table: it belongs to the suite load; write measure load --table",
        )),
    }
}

/// More processors than there are cannot be used: a row with the reason.
fn refuse_missing_processors(plan: &mut Plan) {
    let Ok(allowed) = os::topology::allowed() else {
        return;
    };
    let wanted = |planned: &PlannedCase| {
        planned
            .case
            .parameter("cpus")
            .and_then(|text| text.parse::<usize>().ok())
    };
    let (too_many, fine): (Vec<_>, Vec<_>) = std::mem::take(&mut plan.cases)
        .into_iter()
        .partition(|planned| wanted(planned).is_some_and(|cpus| cpus > allowed.len()));
    plan.cases = fine;
    plan.unsupported
        .extend(too_many.iter().map(|planned| Unsupported {
            case: planned.case.to_string(),
            reason: format!(
                "this process may use {} processors; set cpus to that or less",
                allowed.len()
            ),
        }));
}

fn measure_all(
    cases: &[PlannedCase],
    effort: Effort,
    run: &mut Run,
    context: &Context,
) -> Result<(), Failure> {
    let worker = machine::artifact("worker").map_err(|reason| Failure::new(UNSUPPORTED, reason))?;
    let mut runner = WorkerRunner::new(machine::launcher()?, worker);
    let placer = Processors(Topology::read().ok());
    let mut recorder = context.recorder(run);
    let progress = Progress::new(context.common.quiet);
    let outcome = schedule::run(
        cases,
        effort,
        context.seed,
        &placer,
        &mut runner,
        &mut |state, index, trial| {
            let case = &cases[index].case;
            progress.tell(
                state.done as f64 / state.total.max(1) as f64,
                state.remaining,
                &case.to_string(),
            );
            if let Some(trial) = trial {
                recorder.record(|store, id| store.append_trial(id, case, trial));
            }
        },
    );
    progress.finish();
    run.status = if outcome.interrupted {
        RunStatus::Interrupted
    } else {
        RunStatus::Complete
    };
    run.warnings.extend(outcome.warnings);
    for (planned, trials) in cases.iter().zip(outcome.trials) {
        run.measurements.extend(measured(planned, trials));
    }
    run.warnings.extend(warn_of_contamination(&run.measurements));
    for (index, reason) in outcome.failures {
        let case = cases[index].case.to_string();
        run.warnings
            .push(Warning::new("trial-failed", format!("{case}: {reason}")));
        if !run
            .measurements
            .iter()
            .any(|measurement| measurement.case == cases[index].case)
        {
            run.unsupported.push(Unsupported {
                case,
                reason: format!("its trial failed: {reason}"),
            });
        }
    }
    recorder.record(|store, id| store.finish(id, run));
    run.warnings.extend(std::mem::take(&mut recorder.warnings));
    Ok(())
}

fn measured(planned: &PlannedCase, trials: Vec<record::model::Trial>) -> Option<Measurement> {
    summarise::measurement(planned.case.clone(), trials, planned.benchmark.info().metrics)
}

/// More disturbed cases than this are told of together.
const TOLD_ONE_BY_ONE: usize = 3;

/// Which cases were disturbed, by what, and what to do; the figures stand.
fn warn_of_contamination(measurements: &[Measurement]) -> Vec<Warning> {
    let reasons = |m: &Measurement| {
        m.trials
            .iter()
            .filter_map(|t| t.contaminated.clone())
            .collect::<Vec<_>>()
    };
    let disturbed: Vec<(&Measurement, Vec<String>)> = measurements
        .iter()
        .map(|m| (m, reasons(m)))
        .filter(|(_, reasons)| !reasons.is_empty())
        .collect();
    let advice = "repeat it on a quieter machine, or give --runs more";
    let text = |(m, reasons): &(&Measurement, Vec<String>)| {
        let (some, all) = (reasons.len(), m.trials.len());
        format!(
            "{}: {some} of {all} trials were disturbed ({}); {advice}",
            m.case, reasons[0]
        )
    };
    if disturbed.len() <= TOLD_ONE_BY_ONE {
        return disturbed
            .iter()
            .map(|row| Warning::new("disturbed", text(row)))
            .collect();
    }
    let trials: usize = disturbed.iter().map(|(_, reasons)| reasons.len()).sum();
    let all: usize = measurements.iter().map(|m| m.trials.len()).sum();
    let cases = disturbed.len();
    let example = &disturbed[0].1[0];
    vec![Warning::new(
        "disturbed",
        format!(
            "{trials} of {all} trials in {cases} cases were disturbed (for example: {example}); {advice}"
        ),
    )]
}

/// Chooses processors: as many as the parameter `cpus` says, spread over cores first.
struct Processors(Option<Topology>);

impl Placer for Processors {
    fn cpus(&self, planned: &PlannedCase) -> Result<Vec<usize>, String> {
        let wanted = planned
            .case
            .parameter("cpus")
            .and_then(|text| text.parse::<usize>().ok())
            .unwrap_or(0);
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let topology = self
            .0
            .as_ref()
            .ok_or("choose processors: this system does not tell which there are")?;
        let allowed = os::topology::allowed().map_err(|error| format!("choose processors: {error}"))?;
        topology
            .pick(Placement::Spread, wanted, &allowed)
            .map_err(|error| format!("use {wanted} processors: {}", error.reason()))
    }
}

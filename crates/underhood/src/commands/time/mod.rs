//! `underhood time`: a command, from just before its start to its exit or to a place in its start, alone or against a baseline.

mod copies;
mod place;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use measure::command::block::Stop;
use measure::command::compare::Rule;
use measure::command::contest::{self, Options};
use measure::command::launch::{self, Command, Expectation, ProcessRunner};
use record::model::{ArmKind, CommandMetric, Run, RunKind, RunStatus, Session, SessionArm, Verdict, Warning};

use self::place::To;
use super::measure::{now_unix, seconds};
use crate::command_line::{self, RunOptions};
use crate::context::{Context, check_output, write_whole};
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Done, Failure, INTERRUPTED, UNSUPPORTED, launch_failure};
use crate::machine;
use crate::progress::Progress;

/// So many runs show a single command's way to a place in its start; the article's number.
const RUNS_TO_A_PLACE: u32 = 30;

/// Arguments of `time`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// To what it is timed; to a place in its start it is ended there, and nothing of the program itself is done
    #[arg(long, value_enum, default_value_t = To::Exit, value_name = "PLACE")]
    to: To,
    /// The baseline to compare with; split into words, no shell. Ratios are CMD / BASELINE
    #[arg(long, value_name = "BASELINE")]
    vs: Option<String>,
    /// Exactly so many runs of each; without it, until decided or the budget ends (30 runs of a single command to a place in its start)
    #[arg(short, long, visible_short_alias = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_negative_numbers = true)]
    runs: Option<u32>,
    /// Runs before the first timed one
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    warmup: u32,
    #[command(flatten)]
    options: RunOptions,
    /// No new run starts after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    budget: Option<Duration>,
    /// What decides: to_exit_us, running_us, cpu_us, peak_rss_bytes, minor_faults, …; the time to the place without it
    #[arg(long, value_name = "NAME", value_parser = metric)]
    metric: Option<CommandMetric>,
    /// The scheduler prefers the command, as far as the system grants it
    #[arg(long, value_name = "LEVEL", default_value = "normal", value_parser = ["normal", "high", "realtime"])]
    priority: String,
    /// Beside it, runs of it with its files put out of memory first, as after a restart
    #[arg(long, conflicts_with_all = ["vs", "dir"])]
    cold: bool,
    /// Compare copies of the program, with the libraries that lie beside it, in these folders, for example on several file systems
    #[arg(long, value_name = "DIR,DIR", value_delimiter = ',', conflicts_with = "vs")]
    dir: Vec<PathBuf>,
    /// Compare with a bound copy of the program, made for this and removed (image bind)
    #[arg(long, conflicts_with_all = ["vs", "dir", "cold"])]
    bound: bool,
    /// Relative difference that does not matter
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = margin, allow_negative_numbers = true)]
    margin: f64,
    /// Exit with code 4 when this is the verdict on the metric; repeatable
    #[arg(long, value_name = "VERDICT", value_parser = verdict)]
    fail_if: Vec<Verdict>,
    /// Write the runs in hyperfine's JSON format
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Show every metric
    #[arg(long)]
    details: bool,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn metric(text: &str) -> Result<CommandMetric, String> {
    CommandMetric::from_name(text).ok_or_else(|| {
        format!(
            "there are {}",
            CommandMetric::ALL.map(CommandMetric::name).join(", ")
        )
    })
}

fn verdict(text: &str) -> Result<Verdict, String> {
    Verdict::from_word(text).ok_or_else(|| "there are faster, slower, equivalent, undecided".to_owned())
}

/// A share from 0 to less than 1.
pub fn margin(text: &str) -> Result<f64, String> {
    match command_line::share(text) {
        Some(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("it must be a share from 0 to less than 1, such as 1% or 0.01".to_owned()),
    }
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    if let Some(path) = &args.export_json {
        check_output(path)?;
    }
    let mut arms = arms(&args)?;
    let mut warnings = Vec::new();
    warnings.extend(priority(&args.priority));
    prepare(&args, &mut arms, &mut warnings)?;
    let copies = variants(&args, &mut arms, &mut warnings)?;
    let compared = arms.len() > 1;
    let again = compared.then_some(arms.len());
    if again.is_some() {
        let twin = arms[0].clone();
        arms.push(twin);
    }
    let session = Session {
        arms: arms
            .iter()
            .enumerate()
            .map(|(index, arm)| session_arm(index, arm, again))
            .collect(),
        blocks: Vec::new(),
    };
    let count = arms.len();
    let mut runner = ProcessRunner::new(machine::launcher()?, arms, args.options.preparation()?);
    if args.to == To::Exit {
        warm_up(&args, &mut runner)?;
    }
    let metric = args.metric.unwrap_or_else(|| args.to.metric());
    let options = Options {
        metric,
        rule: Rule {
            margin: args.margin,
            ..Rule::default()
        },
        runs: args
            .runs
            .or_else(|| (args.to != To::Exit && !compared).then_some(RUNS_TO_A_PLACE)),
        min_blocks: 10,
        budget_s: args
            .budget
            .map_or(if compared { 60.0 } else { 5.0 }, |budget| budget.as_secs_f64()),
        seed: context.seed,
    };
    let mut run = Run {
        kind: RunKind::Time,
        started_unix: now_unix(),
        arguments: machine::shown(&std::env::args_os().skip(1).collect::<Vec<_>>()),
        seed: context.seed,
        environment: machine::environment(),
        status: RunStatus::Open,
        measurements: Vec::new(),
        unsupported: Vec::new(),
        session: Some(session),
        comparisons: Vec::new(),
        tuning: None,
        warnings,
    };
    let stop = contest_all(&mut runner, count, again, &options, &mut run, context);
    drop(copies);
    finish(&args, metric, run, stop, context)
}

fn arms(args: &Args) -> Result<Vec<Command>, Failure> {
    let candidate = args.options.command(&args.command)?;
    match &args.vs {
        Some(text) => Ok(vec![
            args.options.command(&command_line::words(text, "--vs")?)?,
            candidate,
        ]),
        None => Ok(vec![candidate]),
    }
}

/// Raises our own priority, which the commands inherit; what came of it, when it is not what was asked for.
fn priority(wanted: &str) -> Option<Warning> {
    use os::thread::Priority;
    let level = match wanted {
        "normal" => return None,
        "realtime" => Priority::Realtime,
        _ => Priority::High,
    };
    let got = os::thread::raise_priority(level);
    (got != level).then(|| {
        let got = match got {
            Priority::Normal => "normal",
            Priority::Raised => "a little raised",
            Priority::High => "high",
            Priority::Realtime => "real-time",
        };
        Warning::new(
            "priority",
            format!("the priority is {got}: the system does not grant more to this user (CAP_SYS_NICE, or `ulimit -e` and `ulimit -r`, change that)"),
        )
    })
}

/// The further arms: cold runs, a bound copy, copies in other folders. What is returned removes the copies when it is dropped.
fn variants(
    args: &Args,
    arms: &mut Vec<Command>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<tempfile::TempDir>, Failure> {
    if args.bound {
        let (mut copy, kept) = copies::bound(&arms[0])?;
        place::prepare(&mut arms[0], args.to, warnings)?;
        if !place::prepare(&mut copy, args.to, warnings)?.contains(&copy.program) {
            return Err(Failure::new(
                UNSUPPORTED,
                format!(
                    "time {}: it runs the original in its place; UNDERHOOD_VERBOSE=1 makes it say why",
                    copy.name
                ),
            ));
        }
        arms.push(copy);
        return Ok(vec![kept]);
    }
    if args.to == To::Exit && !args.cold && args.dir.is_empty() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for arm in arms.iter_mut() {
        files = place::prepare(arm, args.to, warnings)?;
    }
    if args.cold {
        let mut cold = arms[0].clone();
        warnings.extend(place::make_cold(&mut cold, files.clone())?);
        arms.push(cold);
    }
    if args.dir.is_empty() {
        return Ok(Vec::new());
    }
    let (copies, kept) = copies::make(&arms[0], &files, &args.dir)?;
    *arms = copies;
    Ok(kept)
}

/// One observed run of each command tells whether it works at all and whether it may be bound to one processor.
fn prepare(args: &Args, arms: &mut [Command], warnings: &mut Vec<Warning>) -> Result<(), Failure> {
    // A single command is timed where the system puts it; binding is for pairs.
    let single = args.vs.is_none() && !args.cold && !args.bound && args.dir.is_empty();
    let observations: Vec<_> = if args.to != To::Exit {
        // Only that which watches and that which is watched take turns.
        return bind_visits(args, arms);
    } else if !single && args.options.pin == "auto" {
        arms.iter().map(command_line::observe).collect::<Result<_, _>>()?
    } else {
        vec![None; arms.len()]
    };
    let (cpus, why) = args.options.pinned(&observations);
    warnings.extend(why.map(|text| Warning::new("pinned", format!("{text}; --pin no turns that off"))));
    for arm in arms {
        arm.cpus.clone_from(&cpus);
        if !args.options.ignore_failure {
            arm.expectation = Expectation {
                end: Some(record::model::End::Exited(0)),
                output: None,
            };
        }
    }
    Ok(())
}

/// Watcher and watched take turns, so both are faster on one processor; where the command goes on by itself, it was not
/// watched to any place yet.
fn bind_visits(args: &Args, arms: &mut [Command]) -> Result<(), Failure> {
    if args.options.pin == "no" {
        return Ok(());
    }
    let cpus = os::topology::allowed()?;
    for arm in arms {
        arm.cpus = cpus.iter().last().map(|cpu| vec![cpu]);
    }
    Ok(())
}

fn session_arm(index: usize, command: &Command, again: Option<usize>) -> SessionArm {
    let kind = match index {
        index if Some(index) == again => ArmKind::Again,
        0 => ArmKind::Baseline,
        _ => ArmKind::Candidate,
    };
    let mut words = vec![command.program.to_string_lossy().into_owned()];
    words.extend(machine::shown(&command.args));
    SessionArm {
        name: command.name.clone(),
        command: words,
        kind,
    }
}

fn warm_up(args: &Args, runner: &mut ProcessRunner) -> Result<(), Failure> {
    for index in 0..runner.arms.len() {
        let command = runner.arms[index].clone();
        for _ in 0..args.warmup {
            let ran = launch::run_once(runner.launcher(), &command, 0, None)
                .map_err(|error| launch_failure(&error, &command.name))?;
            if let Some(reason) = launch::broken(&command.expectation, &ran) {
                return Err(Failure::new(COMMAND_FAILED, failed_text(&command.name, &reason)));
            }
        }
    }
    Ok(())
}

fn failed_text(name: &str, reason: &str) -> String {
    let by_itself = ["it exited with status", "it was ended by signal"]
        .iter()
        .any(|start| reason.starts_with(start));
    let advice = if by_itself {
        "; --ignore-failure accepts any exit status"
    } else {
        ""
    };
    format!("time {name}: {reason}{advice}")
}

fn contest_all(
    runner: &mut ProcessRunner,
    arms: usize,
    again: Option<usize>,
    options: &Options,
    run: &mut Run,
    context: &Context,
) -> Option<Stop> {
    let mut recorder = context.recorder(run);
    recorder.record(|store, id| {
        run.session
            .iter()
            .try_for_each(|session| store.set_arms(id, &session.arms))
    });
    let progress = Progress::new(context.common.quiet);
    let outcome = contest::run(runner, arms, again, options, &mut |state, block| {
        let remaining = state.spent_s / state.share.max(1e-6) - state.spent_s;
        let remaining = Duration::from_secs_f64(remaining.clamp(0.0, 1e6));
        progress.tell(state.share, remaining, &format!("block {}", state.blocks));
        recorder.record(|store, id| store.append_blocks(id, std::slice::from_ref(block)));
    });
    progress.finish();
    run.status = match &outcome.stop {
        None => RunStatus::Complete,
        Some(Stop::Interrupted) => RunStatus::Interrupted,
        Some(Stop::Failed { .. }) => RunStatus::Failed,
    };
    if let Some(session) = &mut run.session {
        session.blocks = outcome.blocks;
    }
    run.comparisons = outcome.comparisons;
    run.warnings.extend(strays(run));
    recorder.record(|store, id| store.finish(id, run));
    run.warnings.extend(std::mem::take(&mut recorder.warnings));
    outcome.stop
}

/// A command that leaves processes behind is not over when it exits, and the reader must know.
fn strays(run: &Run) -> Option<Warning> {
    let entries = run
        .session
        .iter()
        .flat_map(|session| &session.blocks)
        .flat_map(|block| &block.entries);
    let most = entries.map(|entry| entry.strays).max().unwrap_or(0);
    (most > 0).then(|| {
        Warning::new("strays", format!("it left up to {most} processes running, which were ended; the time ends with the command itself"))
    })
}

fn finish(
    args: &Args,
    metric: CommandMetric,
    run: Run,
    stop: Option<Stop>,
    context: &Context,
) -> Result<Done, Failure> {
    let measured = run
        .session
        .as_ref()
        .is_some_and(|session| !session.blocks.is_empty());
    if measured || stop.is_none() {
        let document = record::format::to_text(&record::format::time::Document::of(&run));
        let published = context.publish(&report::of(&run, args.details), &document);
        if let (Some(path), Some(session)) = (&args.export_json, &run.session) {
            let export = record::format::to_text(&record::format::hyperfine::Document::of(session));
            write_whole(path, &export)?;
        }
        published?;
    }
    match stop {
        Some(Stop::Interrupted) if !measured => Err(Failure::new(
            INTERRUPTED,
            "finish: interrupted before the first runs were complete",
        )),
        Some(Stop::Interrupted) => Ok(Done(INTERRUPTED)),
        Some(Stop::Failed { name, reason, .. }) => {
            Err(Failure::new(COMMAND_FAILED, failed_text(&name, &reason)))
        }
        None => {
            let hit = run
                .comparisons
                .iter()
                .find(|c| c.metric == metric && args.fail_if.contains(&c.verdict));
            Ok(Done(if hit.is_some() { CHECK_FAILED } else { 0 }))
        }
    }
}

//! `underhood tune`: try remedies on the user's own command, prove or refuse each.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use measure::command::block::Stop;
use measure::command::compare::Rule;
use measure::command::launch::{Command, ProcessRunner};
use measure::command::race::{self, Options};
use record::model::{
    ArmKind, CommandMetric, Run, RunKind, RunStatus, Session, SessionArm, TuneArm, Tuning, Warning,
};
use suites::remedy::{self, Remedy};

use super::measure::{now_unix, seconds};
use super::time::margin;
use crate::bound;
use crate::command_line::{self, RunOptions};
use crate::context::Context;
use crate::exit::{COMMAND_FAILED, Done, Failure, INTERRUPTED};
use crate::progress::Progress;
use crate::tuning::baseline::{self, Baseline};
use crate::tuning::{outcome, smoke};
use crate::{apply, machine};

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is to become smaller
    #[arg(long, value_name = "GOAL", default_value = "wall", value_parser = ["wall", "cpu", "rss"])]
    goal: String,
    /// Seconds for all of it; a round of runs that has begun is finished
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds, allow_negative_numbers = true)]
    budget: Duration,
    /// Exactly so many blocks of racing and so many of confirmation, instead of the budget
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), allow_negative_numbers = true)]
    runs: Option<u32>,
    /// Largest accepted growth of peak memory: 25% or 0.25; any for no limit; less than 4 MiB is never refused
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = growth, allow_negative_numbers = true)]
    max_rss_growth: Growth,
    /// A gain smaller than this does not count
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = margin, allow_negative_numbers = true)]
    margin: f64,
    /// Try only these remedies: heap=mimalloc, glibc.malloc.arena_max=1; repeatable
    #[arg(long, value_name = "REMEDY")]
    remedy: Vec<String>,
    #[command(flatten)]
    options: RunOptions,
    /// Write a shell launcher that runs the command with the winner
    #[arg(long, value_name = "FILE")]
    write_launcher: Option<PathBuf>,
    /// Write a systemd drop-in for this unit with the winner
    #[arg(long, value_name = "UNIT")]
    write_systemd: Option<String>,
    /// Overwrite a launcher that is not ours
    #[arg(long)]
    force: bool,
    /// Show every metric and every remedy
    #[arg(long)]
    details: bool,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// A limit of growth, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Growth(Option<f64>);

fn growth(text: &str) -> Result<Growth, String> {
    if text == "any" {
        return Ok(Growth(None));
    }
    match command_line::share(text) {
        Some(share) if share >= 0.0 => Ok(Growth(Some(share))),
        _ => Err("it must be a share such as 25% or 0.25, or any".to_owned()),
    }
}

fn goal_metric(goal: &str) -> CommandMetric {
    match goal {
        "cpu" => CommandMetric::Cpu,
        "rss" => CommandMetric::PeakRss,
        _ => CommandMetric::ToExit,
    }
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let goal = goal_metric(&args.goal);
    let remedies = remedies(&args)?;
    let mut command = args.options.command(&args.command)?;
    let begun = std::time::Instant::now();
    let mut launcher = machine::launcher()?;
    let progress = Progress::new(context.common.quiet);
    progress.tell(0.0, args.budget, "running the command as it is");
    let baseline = baseline::establish(&mut launcher, &command, args.options.ignore_failure)?;
    let (cpus, pinned) = args.options.pinned(std::slice::from_ref(&baseline.observation));
    command.cpus = cpus;
    let mut warnings = baseline.warnings.clone();
    warnings.extend(
        baseline
            .loading
            .filter(|share| *share >= remedy::loader::WORTH_IT)
            .map(|share| {
                let text = format!(
                    "{:.0} % of its time go by before its program begins; image inspect --closure says what the loader does then",
                    100.0 * share.min(1.0)
                );
                Warning::new("loading", text)
            }),
    );
    warnings.extend(pinned.map(|text| Warning::new("pinned", format!("{text}; --pin no turns that off"))));
    let remedies = with_copies(remedies, &command, &baseline, &progress, args.budget)?;
    let (remedies, copies) = remedies;
    let (candidates, unraced) = smoke_all(&args, &remedies, &command, &baseline, &progress)?;
    let names: Vec<String> = candidates
        .iter()
        .map(|candidate| candidate.name.clone())
        .collect();
    let plain = smoke::plain(&command, &baseline);
    let arms: Vec<Command> = [plain.clone(), plain].into_iter().chain(candidates).collect();
    let mut run = header(&args, &arms, warnings, context);
    let options = Options {
        metric: goal,
        rule: Rule {
            margin: args.margin,
            ..Rule::default()
        },
        budget_s: args.budget.saturating_sub(begun.elapsed()).as_secs_f64(),
        runs: args.runs,
        keep: 4,
        max_rss_growth: args.max_rss_growth.0,
        seed: context.seed,
    };
    let stop = race_all(
        arms,
        launcher,
        &args,
        &options,
        (names, unraced),
        &mut run,
        (context, &progress),
    )?;
    if let Some(Stop::Failed { name, reason, .. }) = stop {
        return Err(Failure::new(COMMAND_FAILED, format!("tune {name}: {reason}")));
    }
    drop(copies);
    context.publish(&report::of(&run, args.details), &json(&run))?;
    apply_winner(&args, &remedies, &run, context)?;
    Ok(Done(if run.status == RunStatus::Interrupted {
        INTERRUPTED
    } else {
        0
    }))
}

fn remedies(args: &Args) -> Result<Vec<Remedy>, Failure> {
    if args.remedy.is_empty() {
        return Ok(remedy::all(&machine::artifact));
    }
    args.remedy
        .iter()
        .map(|text| remedy::parse(text, &machine::artifact).map_err(Failure::usage))
        .collect()
}

/// Makes the bound copy that a remedy needs, where it is worth it. The folder is removed when the second result is dropped.
fn with_copies(
    remedies: Vec<Remedy>,
    command: &Command,
    baseline: &Baseline,
    progress: &Progress,
    budget: Duration,
) -> Result<(Vec<Remedy>, Option<tempfile::TempDir>), Failure> {
    let loads = baseline
        .loading
        .is_none_or(|share| share >= remedy::loader::WORTH_IT);
    let wants = |remedy: &Remedy| remedy.copy().is_some() && remedy.obstacle(&baseline.program).is_none();
    if !loads || !remedies.iter().any(wants) {
        return Ok((remedies, None));
    }
    progress.tell(0.0, budget, "binding a copy of the program");
    let made = bound::temporary(&command.program, false);
    let treat = |remedy: Remedy| match &made {
        _ if remedy.copy().is_none() => remedy,
        Ok((document, _)) => remedy.with_copy(PathBuf::from(&document.copy)),
        Err(failure) => Remedy {
            available: measure::model::Support::No(failure.message.clone()),
            ..remedy
        },
    };
    let remedies = remedies.into_iter().map(treat).collect();
    Ok((remedies, made.ok().map(|(_, folder)| folder)))
}

/// Every remedy gets one observed run, as long as a fifth of the budget lasts.
fn smoke_all(
    args: &Args,
    remedies: &[Remedy],
    command: &Command,
    baseline: &Baseline,
    progress: &Progress,
) -> Result<(Vec<Command>, Vec<TuneArm>), Failure> {
    let start = std::time::Instant::now();
    let (mut candidates, mut unraced) = (Vec::new(), Vec::new());
    for remedy in remedies {
        let late = args.runs.is_none()
            && start.elapsed() + baseline.wall > args.budget / 5
            && !candidates.is_empty();
        let smoke = if late {
            smoke::Smoke::NotApplicable("there was no time to try it; give --budget more".to_owned())
        } else {
            progress.tell(0.0, args.budget, &format!("trying {}", remedy.name));
            smoke::test(remedy, command, baseline)?
        };
        unraced.extend(outcome::unraced(&remedy.name, &smoke));
        if let smoke::Smoke::Passed(candidate) = smoke {
            candidates.push(*candidate);
        }
    }
    Ok((candidates, unraced))
}

fn header(args: &Args, arms: &[Command], warnings: Vec<Warning>, context: &Context) -> Run {
    let session_arm = |(index, command): (usize, &Command)| SessionArm {
        name: command.name.clone(),
        command: machine::shown(&args.command),
        kind: match index {
            race::BASELINE => ArmKind::Baseline,
            race::AGAIN => ArmKind::Again,
            _ => ArmKind::Candidate,
        },
    };
    let session = Session {
        arms: arms.iter().enumerate().map(session_arm).collect(),
        blocks: Vec::new(),
    };
    Run {
        kind: RunKind::Tune,
        started_unix: now_unix(),
        arguments: machine::shown(&std::env::args_os().skip(1).collect::<Vec<_>>()),
        seed: context.seed,
        environment: machine::environment(),
        status: RunStatus::Open,
        measurements: Vec::new(),
        unsupported: Vec::new(),
        session: None,
        comparisons: Vec::new(),
        tuning: Some(Tuning {
            command: machine::shown(&args.command),
            goal: args.goal.clone(),
            noise_floor: None,
            arms: Vec::new(),
            winner: None,
            confirmed: None,
            sentence: String::new(),
            session,
            warnings,
        }),
        warnings: Vec::new(),
    }
}

fn race_all(
    arms: Vec<Command>,
    launcher: os::process::Launcher,
    args: &Args,
    options: &Options,
    (names, unraced): (Vec<String>, Vec<TuneArm>),
    run: &mut Run,
    (context, progress): (&Context, &Progress),
) -> Result<Option<Stop>, Failure> {
    let mut runner = ProcessRunner::new(launcher, arms, args.options.preparation()?);
    let mut recorder = context.recorder(run);
    recorder.record(|store, id| {
        run.tuning
            .iter()
            .try_for_each(|tuning| store.set_arms(id, &tuning.session.arms))
    });
    let raced = race::run(&mut runner, names.len(), *options, &mut |state, block| {
        let share = state.spent_s / options.budget_s;
        let remaining = Duration::from_secs_f64((options.budget_s - state.spent_s).max(0.0));
        progress.tell(
            share,
            remaining,
            &format!("at most; {} with {} commands", state.stage, state.arms),
        );
        recorder.record(|store, id| store.append_blocks(id, std::slice::from_ref(block)));
    });
    progress.finish();
    run.status = match &raced.stop {
        None => RunStatus::Complete,
        Some(Stop::Interrupted) => RunStatus::Interrupted,
        Some(Stop::Failed { .. }) => RunStatus::Failed,
    };
    let interrupted = run.status == RunStatus::Interrupted;
    if let Some(tuning) = &mut run.tuning {
        tuning.arms = outcome::raced(&names, &raced, options.metric, options.rule);
        tuning.arms.extend(unraced);
        tuning.noise_floor = raced.noise_floor;
        tuning.winner = raced.winner.map(|arm| names[arm - race::FIRST].clone());
        tuning.confirmed = raced.confirmed;
        tuning.session.blocks = raced.blocks;
        tuning.sentence = outcome::sentence(tuning, options.metric, interrupted);
    }
    recorder.record(|store, id| store.finish(id, run));
    if let Some(tuning) = &mut run.tuning {
        tuning.warnings.extend(std::mem::take(&mut recorder.warnings));
    }
    Ok(raced.stop)
}

fn json(run: &Run) -> String {
    record::format::tune::Document::of(run)
        .map_or_else(String::new, |document| record::format::to_text(&document))
}

/// Writes the launcher and the drop-in that were asked for, when there is a winner.
fn apply_winner(args: &Args, remedies: &[Remedy], run: &Run, context: &Context) -> Result<(), Failure> {
    if args.write_launcher.is_none() && args.write_systemd.is_none() {
        return Ok(());
    }
    let winner = run.tuning.as_ref().and_then(|tuning| tuning.winner.as_ref());
    let Some(remedy) = winner.and_then(|name| remedies.iter().find(|remedy| &remedy.name == name)) else {
        // Not a remark, which --quiet silences: a file was asked for by name, and there is none.
        crate::exit::say("underhood: nothing was written, since nothing helps");
        return Ok(());
    };
    if let Some(path) = &args.write_launcher {
        let written = apply::launcher::write(path, remedy, &args.command, args.force)?;
        context.remark(&written);
    }
    if let Some(unit) = &args.write_systemd {
        let written = apply::systemd::write(unit, remedy, args.force)?;
        context.remark(&written);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_a_share_a_percentage_or_none() {
        assert_eq!(growth("25%"), Ok(Growth(Some(0.25))));
        assert_eq!(growth("0.5"), Ok(Growth(Some(0.5))));
        assert_eq!(growth("any"), Ok(Growth(None)));
        assert!(growth("-1").is_err() && growth("much").is_err());
        assert_eq!(margin("2%"), Ok(0.02));
        assert_eq!(margin("0.02"), Ok(0.02));
        assert!(margin("100%").is_err() && margin("-1%").is_err() && margin("%").is_err());
    }
}

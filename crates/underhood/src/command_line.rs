//! Other people's commands as our options describe them: the words, standard input, time limit, preparation.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use measure::command::launch::Command;
use os::process::{Observation, Stdin};

use crate::commands::measure::seconds;
use crate::exit::{Failure, launch_failure};

/// The options with which `time` and `tune` describe how a command is run. The names are hyperfine's where it has them.
#[derive(Debug, clap::Args)]
pub struct RunOptions {
    /// Run this before every timed run, untimed; split into words, no shell
    #[arg(short, long, value_name = "CMD")]
    pub prepare: Option<String>,
    /// Accept any exit status
    #[arg(short, long)]
    pub ignore_failure: bool,
    /// End the command and all its descendants after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Standard input of every run comes from this file, from its start; without it, it is empty
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Bind all runs to one processor: auto does so when every command is single-threaded
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "yes", "no"])]
    pub pin: String,
}

impl RunOptions {
    /// A command of these words.
    pub fn command(&self, words: &[OsString]) -> Result<Command, Failure> {
        let Some((program, args)) = words.split_first() else {
            return Err(Failure::usage("find a command; give it after --"));
        };
        if let Some(input) = &self.input {
            // Said now and not in the middle of a measurement.
            check_input(input)?;
        }
        Ok(Command {
            stdin: self.input.clone().map_or(Stdin::Null, Stdin::File),
            timeout: self.timeout,
            ..Command::new(program.into(), args.to_vec())
        })
    }

    /// The command before each run, if there is one.
    pub fn preparation(&self) -> Result<Option<Command>, Failure> {
        let Some(text) = &self.prepare else {
            return Ok(None);
        };
        let command = self.command(&words(text, "--prepare")?)?;
        Ok(Some(Command {
            stdin: Stdin::Null,
            ..command
        }))
    }

    /// The one processor to which all runs are bound, if they are, with the reason in words.
    pub fn pinned(&self, observations: &[Option<Observation>]) -> (Option<Vec<usize>>, Option<String>) {
        let single = observations
            .iter()
            .all(|seen| seen.as_ref().is_some_and(Observation::single_threaded));
        if self.pin == "no" || (self.pin == "auto" && !single) {
            return (None, None);
        }
        // The last one: interrupts and other programs favour the first.
        let last = os::topology::allowed().ok().and_then(|cpus| cpus.iter().last());
        let why = if single {
            "it is single-threaded"
        } else {
            "--pin yes"
        };
        (
            last.map(|cpu| vec![cpu]),
            last.map(|cpu| format!("all runs were bound to processor {cpu}, since {why}")),
        )
    }
}

/// Refuses what cannot be read again from its start for every run: a folder, a pipe, a socket. Asked before opening, since
/// opening a pipe waits for somebody at its other end.
fn check_input(input: &std::path::Path) -> Result<(), Failure> {
    let failed = |why: String| Failure::usage(format!("read the input file {}: {why}", input.display()));
    let kind = std::fs::metadata(input)
        .map_err(|error| failed(error.to_string()))?
        .file_type();
    if !kind.is_file() && input != std::path::Path::new("/dev/null") {
        return Err(failed(
            "it is not a regular file, so it cannot be replayed to every run".to_owned(),
        ));
    }
    std::fs::File::open(input).map_err(|error| failed(error.to_string()))?;
    Ok(())
}

/// A command in one option, split into words as a POSIX shell would, with nothing expanded and nothing run by a shell.
pub fn words(text: &str, option: &str) -> Result<Vec<OsString>, Failure> {
    let words = shell_words::split(text)
        .map_err(|_| Failure::usage(format!("read {option} {text:?}: a quotation mark has no partner")))?;
    if words.is_empty() {
        return Err(Failure::usage(format!(
            "read {option}: it is empty; a right one is {option} 'sort file'"
        )));
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// A share, written as a number (0.25) or in percent (25%); `None` when it is neither.
pub fn share(text: &str) -> Option<f64> {
    let (number, scale) = text
        .strip_suffix('%')
        .map_or((text, 1.0), |number| (number, 0.01));
    let share = number.parse::<f64>().ok()? * scale;
    share.is_finite().then_some(share)
}

/// Runs a command once under observation, to learn what it consists of. `None` where the system does not allow that.
pub fn observe(command: &Command) -> Result<Option<Observation>, Failure> {
    use os::process::{LaunchError, Sink};
    match os::process::observe(&command.spec(0, Sink::Null)) {
        Ok(observation) => Ok(Some(observation)),
        Err(LaunchError::Other(_) | LaunchError::Launcher(_)) => Ok(None),
        Err(error) => Err(launch_failure(&error, &command.name)),
    }
}

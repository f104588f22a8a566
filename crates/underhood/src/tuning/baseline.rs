//! The command as it is: its exit status and output, whether it repeats itself, and what it consists of.

use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use measure::command::launch::{self, Command, Expectation, Output};
use os::loader::Program;
use os::process::{Launcher, Observation, Sink, Visit};
use record::model::{End, Warning};

use crate::command_line;
use crate::exit::{COMMAND_FAILED, Failure, launch_failure};

/// More output than this is not compared: it would have to be kept in memory for every run.
const MOST_OUTPUT: u64 = 256 << 20;

/// What is known of the command before any remedy.
#[derive(Debug)]
pub struct Baseline {
    /// What every run must do.
    pub expectation: Expectation,
    /// How long a run takes.
    pub wall: Duration,
    /// What it consists of; `None` where the system does not let us look.
    pub observation: Option<Observation>,
    /// Its program file.
    pub program: Program,
    /// The share of its time that goes by before its program begins; `None` where that cannot be found out.
    pub loading: Option<f64>,
    /// What the user must know.
    pub warnings: Vec<Warning>,
}

/// Runs the command three times, one of them under observation.
pub fn establish(
    launcher: &mut Launcher,
    command: &Command,
    ignore_failure: bool,
) -> Result<Baseline, Failure> {
    let failed = |error: &os::process::LaunchError| launch_failure(error, &command.name);
    let path = os::loader::find_in_path(command.program.as_os_str(), std::env::var_os("PATH").as_deref())
        .map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let program =
        os::loader::classify(&path).map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let mut warnings = Vec::new();
    let mut first =
        launch::run_once(launcher, command, 0, Some(MOST_OUTPUT)).map_err(|error| failed(&error))?;
    if let Some(Err(_)) = first.output {
        // The full memory was an error to the command, so how it ended says nothing: once more, into nowhere.
        first = launch::run_once(launcher, command, 0, None).map_err(|error| failed(&error))?;
        let text = "it writes more than 256 MiB, so only its exit status is compared; redirect its output into a file to have it checked";
        warnings.push(Warning::new("output-not-compared", text));
    }
    check_end(command, first.end, ignore_failure)?;
    let mut output = first.output.and_then(Result::ok);
    let second =
        launch::run_once(launcher, command, 64, output.as_ref().map(cap)).map_err(|error| failed(&error))?;
    if second.end != first.end {
        return Err(Failure::new(
            COMMAND_FAILED,
            format!(
                "tune {}: it {} the first time and {} the second; a program that does not repeat itself cannot be tuned",
                command.name,
                launch::describe(first.end),
                launch::describe(second.end)
            ),
        ));
    }
    if let (Some(expected), Some(again)) = (&output, &second.output)
        && again.as_ref() != Ok(expected)
    {
        let text = "its output differs from run to run, so only its exit status is compared; make it repeatable to have its output checked";
        warnings.push(Warning::new("output-not-repeatable", text));
        output = None;
    }
    let observation = command_line::observe(command)?;
    let wall = Duration::from_nanos(first.usage.wall_ns.min(second.usage.wall_ns));
    Ok(Baseline {
        loading: loading(command).map(|time| time.as_secs_f64() / wall.as_secs_f64().max(1e-9)),
        expectation: Expectation {
            end: Some(first.end),
            output,
        },
        wall,
        observation,
        program,
        warnings,
    })
}

/// The fastest of three ways to the entry of the command's first program.
fn loading(command: &Command) -> Option<Duration> {
    let visit = Visit::to_entry(1);
    (0..3)
        .filter_map(|_| {
            let seen = os::process::visit(&command.spec(0, Sink::Null), visit).ok()?;
            seen.arrivals.last()?.ns.map(Duration::from_nanos)
        })
        .min()
}

fn cap(output: &Output) -> u64 {
    output.bytes
}

fn check_end(command: &Command, end: End, ignore_failure: bool) -> Result<(), Failure> {
    match end {
        End::Exited(0) => Ok(()),
        End::TimedOut => Err(Failure::new(
            COMMAND_FAILED,
            format!(
                "tune {}: it did not end in time and was ended, with everything it had started; give --timeout more",
                command.name
            ),
        )),
        _ if ignore_failure => Ok(()),
        _ => Err(Failure::new(
            COMMAND_FAILED,
            format!(
                "tune {}: it {}; --ignore-failure accepts any exit status{}",
                command.name,
                launch::describe(end),
                last_words(command)
                    .map(|words| format!("\nits last words: {words}"))
                    .unwrap_or_default()
            ),
        )),
    }
}

/// The last lines that the command writes to standard error, from one more run.
fn last_words(command: &Command) -> Option<String> {
    const MOST: u64 = 1 << 20;
    let mut file = os::memory::capped_file(MOST).ok()?;
    let mut spec = command.spec(0, Sink::Null);
    spec.stderr = Sink::File(file.try_clone().ok()?);
    os::process::observe(&spec).ok()?;
    let length = os::memory::written_len(&file).ok()?;
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(2000))).ok()?;
    file.take(length.min(2000)).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" / ");
    (!last.is_empty()).then_some(last)
}

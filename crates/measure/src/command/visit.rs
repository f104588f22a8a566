//! Commands timed to a place in their start instead of to their exit.
//!
//! Such a run is ended at the place, so that nothing of the program itself is done. What the command becomes on its way
//! (a script its interpreter, a wrapper its program) is found out by [`scout`] in a run that goes on.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use os::process::{Arrival, LaunchError, Observation, Place, Sink, Visit};
use record::model::{CommandMetric, End, Entry};

use super::launch::{self, Command};

/// To what a command is timed.
#[derive(Clone, Copy, Debug, Default)]
pub enum Goal {
    /// Its exit.
    #[default]
    Exit,
    /// A place in the last program that it becomes.
    Place {
        /// Which place.
        place: Place,
        /// How many programs it becomes.
        programs: u32,
        /// What the time is called.
        metric: CommandMetric,
    },
}

/// How long a program that has begun may still become another one, when the command is scouted. Wrappers that work longer
/// before they execute their program are followed as long as they end by themselves.
const SETTLE: Duration = Duration::from_secs(2);

/// As much of what a failing start says is kept.
const SAID: u64 = 4096;

/// What a command does on its way to a place.
#[derive(Clone, Debug)]
pub struct Scouted {
    /// All about the run.
    pub observation: Observation,
    /// What it wrote to standard error.
    pub said: String,
}

/// Follows a command to its end, or until it has been one program for two seconds.
///
/// # Errors
/// Those of [`os::process::visit`].
pub fn scout(command: &Command, place: Place) -> Result<Scouted, LaunchError> {
    let mut file = os::memory::capped_file(SAID).map_err(LaunchError::Other)?;
    let mut spec = command.spec(0, Sink::Null);
    spec.stderr = Sink::File(file.try_clone().map_err(LaunchError::Other)?);
    let visit = Visit {
        place,
        stop_at: None,
        settle: SETTLE,
        at_last: None,
    };
    let observation = os::process::visit(&spec, visit)?;
    let mut said = Vec::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| (&mut file).take(SAID).read_to_end(&mut said));
    read.map_err(LaunchError::Other)?;
    // The rest of a file of fixed size.
    let end = said
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    Ok(Scouted {
        observation,
        said: String::from_utf8_lossy(&said[..end]).trim().to_owned(),
    })
}

/// One run to the place, and what is counted there; in words why there is nothing to count.
///
/// # Errors
/// Those of [`os::process::visit`].
pub fn run_once(
    command: &Command,
    padding: usize,
    (place, programs, metric): (Place, u32, CommandMetric),
    arm: usize,
) -> Result<Result<Entry, String>, LaunchError> {
    let visit = Visit {
        place,
        stop_at: Some(programs),
        settle: SETTLE,
        at_last: None,
    };
    let observation = os::process::visit(&command.spec(padding, Sink::Null), visit)?;
    let end = launch::end_of(observation.end);
    let last = observation.arrivals.last();
    Ok(match (end, last) {
        (End::Stopped, Some(arrival)) => Ok(entry(arm, end, arrival, metric)),
        (End::TimedOut, _) => Err("it did not get there in time and was ended (--timeout)".to_owned()),
        _ => Err(format!("it {} before it got there", launch::describe(end))),
    })
}

fn entry(arm: usize, end: End, arrival: &Arrival, metric: CommandMetric) -> Entry {
    let count = |value: Option<u64>| value.map(|value| value as f64);
    let values = [
        (metric, arrival.ns.map(|ns| ns as f64 / 1e3)),
        (CommandMetric::MinorFaults, count(arrival.minor_faults)),
        (CommandMetric::MajorFaults, count(arrival.major_faults)),
        (CommandMetric::PrivateDirty, count(arrival.private_dirty_bytes)),
    ];
    launch::known(arm, end, values)
}

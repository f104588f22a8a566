//! One observed run with each remedy, before any is timed: does it apply, was it in effect, is the result the same?
//!
//! A library that cannot be preloaded is only a warning of the loader on standard error, and the program runs as
//! before: without proof, a remedy that never was would be timed and found "equivalent".

use measure::command::launch::{self, Command, Ran};
use os::process::LaunchError;
use record::model::Support;
use suites::remedy::{self, Remedy};

use super::baseline::Baseline;
use crate::exit::{Failure, INTERRUPTED};

/// What a smoke test found.
#[derive(Debug)]
pub enum Smoke {
    /// It may race, as this command.
    Passed(Box<Command>),
    /// It does not apply to this program.
    NotApplicable(String),
    /// It applies, and something went wrong.
    Refused {
        /// What.
        reason: String,
        /// Whether it was in effect, where that is known.
        in_effect: Option<bool>,
        /// Whether status and output were the same, where that is known.
        output_identical: Option<bool>,
    },
}

/// Tries one remedy.
pub fn test(remedy: &Remedy, command: &Command, baseline: &Baseline) -> Result<Smoke, Failure> {
    for support in [&remedy.available, &remedy.applicable(&baseline.program)] {
        if let Support::No(reason) = support {
            return Ok(Smoke::NotApplicable(reason.clone()));
        }
    }
    if let Some(share) = baseline.loading
        && remedy::loader::is_of_the_loader(remedy)
        && share < remedy::loader::WORTH_IT
    {
        return Ok(Smoke::NotApplicable(format!(
            "loading is {:.1} % of its time, too little to gain from; it is tried from {:.0} % on",
            100.0 * share,
            100.0 * remedy::loader::WORTH_IT
        )));
    }
    let mut treated = command.clone();
    treated.name.clone_from(&remedy.name);
    if let Some(copy) = remedy.copy() {
        copy.clone_into(&mut treated.program);
    }
    treated.environment = remedy.environment(&|name| std::env::var_os(name));
    treated.expectation = baseline.expectation.clone();
    // A remedy that makes the program hang must not take the whole budget.
    let patience = baseline.wall * 20 + std::time::Duration::from_secs(10);
    treated.timeout = Some(command.timeout.map_or(patience, |timeout| timeout.min(patience)));
    let refused = |reason: String, in_effect, output_identical| Smoke::Refused {
        reason,
        in_effect,
        output_identical,
    };
    let (observation, ran) = match observed(&treated) {
        Ok(seen) => seen,
        Err(LaunchError::Interrupted) => return Err(Failure::new(INTERRUPTED, "finish: interrupted")),
        Err(error) => {
            let why = format!("no proof could be had that it was in effect: {error}");
            return Ok(refused(why, None, None));
        }
    };
    if let Some(reason) = launch::broken(&treated.expectation, &ran) {
        return Ok(refused(format!("with it {reason}"), None, Some(false)));
    }
    if let Err(reason) = remedy.in_effect(&observation) {
        return Ok(refused(reason, Some(false), Some(true)));
    }
    Ok(Smoke::Passed(Box::new(treated)))
}

/// An observed run whose output is kept and hashed where it is compared.
fn observed(command: &Command) -> Result<(os::process::Observation, Ran), LaunchError> {
    let cap = command.expectation.output.as_ref().map(|output| output.bytes);
    let capture = launch::Capture::new(cap).map_err(LaunchError::Other)?;
    let observation = os::process::observe(&command.spec(0, capture.sink().map_err(LaunchError::Other)?))?;
    let end = launch::end_of(observation.end);
    let ran = Ran {
        end,
        usage: os::process::Usage::default(),
        output: capture.output().map_err(LaunchError::Other)?,
    };
    Ok((observation, ran))
}

/// The command that a user's own command line is compared with: as it is, with the same expectations.
pub fn plain(command: &Command, baseline: &Baseline) -> Command {
    Command {
        expectation: baseline.expectation.clone(),
        ..command.clone()
    }
}

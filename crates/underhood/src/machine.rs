//! This machine, for the commands: its facts for the record, the files that we carry, the launcher.

use std::ffi::OsStr;
use std::path::PathBuf;

use os::process::Launcher;
use record::model::{ClockFacts, Environment};

use crate::exit::{Failure, UNSUPPORTED};

/// The facts about this host that every run records.
pub fn environment() -> Environment {
    let info = os::clock::Clock::choose().info();
    Environment {
        facts: os::host::Host::read().facts(),
        clock: Some(ClockFacts {
            name: info.name.to_owned(),
            resolution_ns: info.resolution_ns,
            cost_ns: info.cost_ns,
            reason: info.reason,
        }),
    }
}

/// Where a carried file is, unpacked into the user's cache when it is not there yet.
pub fn artifact(name: &str) -> Result<PathBuf, String> {
    bundle::unpack(name).map_err(|error| error.to_string())
}

/// A started launcher.
pub fn launcher() -> Result<Launcher, Failure> {
    let path = if bundle::find("launcher").is_some() {
        artifact("launcher").map_err(|reason| Failure::new(UNSUPPORTED, reason))?
    } else {
        // Windows starts commands without a program between.
        PathBuf::new()
    };
    Launcher::start(&path).map_err(|error| {
        Failure::new(
            UNSUPPORTED,
            format!("start the launcher {}: {error}", path.display()),
        )
    })
}

/// A command line as the user would type it, for tables and records.
pub fn shown<S: AsRef<OsStr>>(words: &[S]) -> Vec<String> {
    words
        .iter()
        .map(|word| word.as_ref().to_string_lossy().into_owned())
        .collect()
}

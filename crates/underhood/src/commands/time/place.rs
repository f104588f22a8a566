//! `time --to entry` and `--to main`: what the command becomes on its way there, and what must be said about it.

use std::path::{Path, PathBuf};

use measure::command::launch::{self, Command};
use measure::command::visit::{self, Goal, Scouted};
use os::loader::Linkage;
use os::process::{Arrival, Place};
use record::model::{CommandMetric, Warning};

use crate::exit::{COMMAND_FAILED, Failure, UNSUPPORTED, launch_failure};

/// To what a command is timed, as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum To {
    /// The end of the command
    Exit,
    /// The first instruction of the program, when the loader has done its work
    Entry,
    /// The program's function main, where its file names it
    Main,
}

impl To {
    /// What decides when nothing else is asked for.
    pub const fn metric(self) -> CommandMetric {
        match self {
            Self::Exit => CommandMetric::ToExit,
            Self::Entry => CommandMetric::ToEntry,
            Self::Main => CommandMetric::ToMain,
        }
    }

    const fn place(self) -> Option<Place> {
        match self {
            Self::Exit => None,
            Self::Entry => Some(Place::Entry),
            Self::Main => Some(Place::Found(main_of)),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Exit => "its exit",
            Self::Entry => "its entry point",
            Self::Main => "its function main",
        }
    }
}

/// Scouts a command and sets its goal; returns the files that it consists of.
pub fn prepare(command: &mut Command, to: To, warnings: &mut Vec<Warning>) -> Result<Vec<PathBuf>, Failure> {
    let place = to.place().unwrap_or(Place::Entry);
    let scouted = visit::scout(command, place).map_err(|error| launch_failure(&error, &command.name))?;
    let programs = reached(command, &scouted, to)?;
    let (last, before) = programs
        .split_last()
        .ok_or_else(|| unreached(command, &scouted, to))?;
    if to != To::Exit {
        command.goal = Goal::Place {
            place,
            programs: u32::try_from(programs.len()).unwrap_or(u32::MAX),
            metric: to.metric(),
        };
        warnings.extend(followed(before, last));
        warnings.extend(moves_itself(last, to));
    }
    let mut files = scouted
        .observation
        .processes
        .first()
        .map_or_else(Vec::new, |process| process.libraries.clone());
    files.extend(programs.iter().map(|arrival| arrival.exe.clone()));
    files.sort();
    files.dedup();
    Ok(files)
}

/// The programs of the command up to the last one that reached the place.
fn reached<'a>(command: &Command, scouted: &'a Scouted, to: To) -> Result<&'a [Arrival], Failure> {
    let arrivals = &scouted.observation.arrivals;
    let last = arrivals.iter().rposition(|arrival| arrival.ns.is_some());
    // A later program that never got there is what the user asked about, and not the one before it.
    match last {
        Some(last) if last + 1 == arrivals.len() => Ok(arrivals),
        _ => Err(unreached(command, scouted, to)),
    }
}

fn unreached(command: &Command, scouted: &Scouted, to: To) -> Failure {
    let exe = scouted
        .observation
        .arrivals
        .last()
        .map(|arrival| arrival.exe.as_path());
    if let (To::Main, Some(exe)) = (to, exe)
        && main_of(exe).is_none()
    {
        return Failure::new(
            UNSUPPORTED,
            format!(
                "time {} to its function main: {} does not name it (it was stripped, or was not written in C); --to entry needs no name",
                command.name,
                exe.display()
            ),
        );
    }
    let said = match scouted.said.lines().next() {
        Some(line) => format!("; it said: {line}"),
        None => String::new(),
    };
    Failure::new(
        COMMAND_FAILED,
        format!(
            "time {} to {}: it {} before it got there{said}",
            command.name,
            to.words(),
            launch::describe(launch::end_of(scouted.observation.end)),
        ),
    )
}

/// What the command was before it became its last program.
fn followed(before: &[Arrival], last: &Arrival) -> Option<Warning> {
    let names: Vec<_> = before
        .iter()
        .map(|arrival| arrival.exe.display().to_string())
        .collect();
    (!names.is_empty()).then(|| {
        Warning::new(
            "followed",
            format!(
                "the command first is {}, then becomes {}: the time is from the start of the first to the beginning of the last",
                names.join(", then "),
                last.exe.display()
            ),
        )
    })
}

/// A program that relocates itself does so behind its first instruction.
fn moves_itself(last: &Arrival, to: To) -> Option<Warning> {
    let linkage = os::loader::classify(&last.exe).ok()?.linkage;
    (to == To::Entry && linkage == Linkage::StaticPie).then(|| {
        Warning::new(
            "static-pie",
            format!(
                "{} is a static program that relocates itself after its entry point, so that work is not in this time; --to main or --to exit includes it",
                last.exe.display()
            ),
        )
    })
}

/// The address of `main` that a program's symbol table gives.
fn main_of(exe: &Path) -> Option<u64> {
    image::symbol::address(&std::fs::read(exe).ok()?, "main")
}

/// Makes a command's runs cold; says what will stay in memory all the same.
pub fn make_cold(command: &mut Command, files: Vec<PathBuf>) -> Result<Option<Warning>, Failure> {
    os::page_cache::support().map_err(|why| Failure::new(UNSUPPORTED, format!("time cold starts: {why}")))?;
    let mut left = Vec::new();
    for file in &files {
        os::page_cache::evict(file)?;
        // A file of somebody else's does not tell.
        let resident = os::page_cache::resident(file).unwrap_or(0);
        if resident > 0 {
            left.push(format!("{} ({} KiB)", file.display(), resident >> 10));
        }
    }
    command.name.push_str(" (cold)");
    command.cold = files;
    Ok((!left.is_empty()).then(|| {
        Warning::new(
            "not-cold",
            format!(
                "the cold runs find in memory what other programs are using: {}",
                left.join(", ")
            ),
        )
    }))
}

//! `image inspect` of ELF files.

mod costs;
mod document;
mod heap;

use std::path::Path;
use std::time::Duration;

use image::elf::closure::Closure;
use image::elf::estimate::{UnitCosts, Work};
use image::elf::facts::Facts;
use image::elf::lookup::Linker;
use image::elf::search::Loader;
use image::elf::{Image, Unreadable};
use measure::command::launch::Command;
use measure::command::visit;
use os::process::Place;
use record::format::inspect::{Document, SCHEMA};
use record::model::CommandMetric;

use super::Args;
use crate::closure::{Wishes, load, unreadable};
use crate::context::Context;
use crate::exit::{COMMAND_FAILED, Done, Failure, UNSUPPORTED, launch_failure};

/// Inspects one file.
pub fn run(args: &Args, bytes: &[u8], context: &Context) -> Result<Done, Failure> {
    let file = args.file.display().to_string();
    let failed = |error: Unreadable| unreadable(&file, &error);
    let image = Image::parse(bytes).map_err(failed)?;
    let facts = Facts::of(&image).map_err(failed)?;
    let mut inspection = document::alone(&facts);
    if args.heap {
        inspection.heap = Some(heap::of(&args.file, bytes)?);
    } else if args.closure {
        let loaded = Loaded::of(&args.file, bytes)?;
        let mut closure = document::closure(&loaded);
        if args.measure {
            closure.measured_entry_us = Some(to_entry_us(&args.file)?);
        }
        inspection.closure = Some(closure);
    } else {
        inspection.symbols = Some(document::symbols(&image).map_err(failed)?);
    }
    let document = Document {
        schema: SCHEMA.to_owned(),
        file,
        elf: Some(inspection),
        pe: None,
    };
    let report = report::inspect::elf::report(&document);
    context.publish(&report, &record::format::to_text(&document))?;
    Ok(Done::OK)
}

/// The median time to the entry point of 15 runs that end there.
fn to_entry_us(path: &Path) -> Result<f64, Failure> {
    const RUNS: usize = 15;
    let path = std::path::absolute(path)?;
    let name = path.display().to_string();
    let command = Command {
        cpus: os::topology::allowed()?.iter().last().map(|cpu| vec![cpu]),
        timeout: Some(Duration::from_secs(60)),
        ..Command::new(path, Vec::new())
    };
    let goal = (Place::Entry, 1, CommandMetric::ToEntry);
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let entry = visit::run_once(&command, 0, goal, 0)
            .map_err(|error| launch_failure(&error, &name))?
            .map_err(|why| Failure::new(COMMAND_FAILED, format!("run {name} to its entry point: {why}")))?;
        times.extend(entry.value(CommandMetric::ToEntry));
    }
    stats::summary::median(&times)
        .ok_or_else(|| Failure::new(UNSUPPORTED, format!("time {name} to its entry point")))
}

/// A program with all that is loaded for it, counted and estimated. Whoever has measured the time to the entry point puts it
/// beside [`Loaded::estimate`].
pub struct Loaded {
    /// What was loaded.
    pub closure: Closure,
    /// What is in each object.
    pub facts: Vec<Facts>,
    /// What the loader does, counted.
    pub work: Work,
    /// What each step costs here, where it can be measured.
    pub costs: Option<UnitCosts>,
    /// The loader and what it was told.
    pub loader: Loader,
}

impl Loaded {
    /// Loads a program as this machine's loader would, in this process's environment, and measures what the steps cost.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let failed = |error: Unreadable| unreadable(&name, &error);
        let image = Image::parse(bytes).map_err(failed)?;
        let (closure, loader) = load(path, bytes, &image, Wishes::OfTheUser)?;
        let facts = closure
            .objects
            .iter()
            .map(|object| Image::parse(&object.bytes).and_then(|image| Facts::of(&image)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let linker = Linker::new(&closure).map_err(failed)?;
        let work = Work::of(&closure, &facts, &linker).map_err(failed)?;
        let costs = costs::measure(&closure, &linker).ok();
        Ok(Self {
            closure,
            facts,
            work,
            costs,
            loader,
        })
    }

    /// Where the loader's time goes, in microseconds; none where the steps cannot be measured.
    pub fn estimate(&self) -> Option<image::elf::estimate::Estimate> {
        self.costs.as_ref().map(|costs| self.work.estimate(costs))
    }
}

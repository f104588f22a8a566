//! The time to a program's entry point beside an independent ptrace loop in C, in turn in one run; and its floor, a program
//! that has nothing to load.

use std::path::Path;

use anyhow::{Context, Result};
use measure::command::visit;
use os::process::Place;
use record::model::CommandMetric;
use stats::summary::{median, quantile};

use crate::common::{Loop, Programs, command, last_cpu, scaled};

/// The medians may differ by this much.
const ALLOWED: f64 = 0.05;
/// The floor, at the 90th percentile, in microseconds.
const FLOOR_US: f64 = 10.0;

pub fn run(scale: f64) -> Result<bool> {
    let programs = Programs::new()?;
    let (theirs, ours) = compare(&programs, Path::new("/bin/true"), scaled(2000, scale))?;
    let ratio = middle(&ours)? / middle(&theirs)?;
    println!(
        "\n| program | runs of each | loop in C, median us | underhood, median us | ratio |\n|---|---|---|---|---|"
    );
    println!(
        "| /bin/true | {} | {:.1} | {:.1} | {ratio:.3} |",
        ours.len(),
        middle(&theirs)?,
        middle(&ours)?
    );
    let (loops, mut floor) = compare(&programs, &programs.get("tiny")?, scaled(2000, scale))?;
    println!(
        "| a static program of two instructions | {} | {:.2} | {:.2} | {:.3} |",
        floor.len(),
        middle(&loops)?,
        middle(&floor)?,
        middle(&floor)? / middle(&loops)?
    );
    floor.sort_by(f64::total_cmp);
    let high = quantile(&floor, 0.9).context("no runs")?;
    println!("\nThe floor at the 90th percentile: {high:.2} us");
    Ok((ratio - 1.0).abs() <= ALLOWED && high <= FLOOR_US)
}

fn middle(times: &[f64]) -> Result<f64> {
    median(times).context("no runs")
}

/// Times in microseconds: the loop's and ours, run by run in turn.
fn compare(programs: &Programs, program: &Path, runs: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let cpu = last_cpu()?;
    let mut theirs = Loop::start(
        &programs.get("entry")?,
        &[&cpu.to_string(), &program.display().to_string()],
    )?;
    let ours = command(program, &[], Some(vec![cpu]));
    let (mut theirs_us, mut ours_us) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        theirs_us.push(theirs.next_ns()? / 1e3);
        let goal = (Place::Entry, 1, CommandMetric::ToEntry);
        let entry = visit::run_once(&ours, 0, goal, 0)?.map_err(anyhow::Error::msg)?;
        ours_us.push(entry.value(CommandMetric::ToEntry).context("read the time")?);
    }
    Ok((theirs_us, ours_us))
}

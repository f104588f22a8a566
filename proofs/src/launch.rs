//! What starting a command costs beside a bare vfork + exec + wait loop in C, timed in turn in one run, and whose memory
//! is reported.

use anyhow::{Context, Result};
use measure::command::launch::run_once;
use stats::summary::median;

use crate::common::{Loop, Programs, command, launcher, scaled, tool_json};

/// The median of the tool may be this much above that of the loop.
const ALLOWED: f64 = 1.15;

pub fn run(scale: f64) -> Result<bool> {
    let programs = Programs::new()?;
    let tiny = programs.get("tiny")?;
    println!("\n| underhood holds | vfork loop, us | underhood, us | ratio |\n|---|---|---|---|");
    let lean = compare(&programs, scaled(2000, scale))?;
    println!(
        "| a few MiB | {:.1} | {:.1} | {:.3} |",
        lean.0,
        lean.1,
        lean.1 / lean.0
    );
    let ballast: Vec<u8> = vec![1; 1 << 30];
    let fat = compare(&programs, scaled(2000, scale))?;
    println!("| 1 GiB | {:.1} | {:.1} | {:.3} |", fat.0, fat.1, fat.1 / fat.0);
    // Read after the runs, so that it was there during them.
    anyhow::ensure!(ballast.iter().step_by(4096).all(|&byte| byte == 1), "keep 1 GiB");
    let mut launcher = launcher()?;
    let big = run_once(
        &mut launcher,
        &command(&programs.get("big")?, &["200"], None),
        0,
        None,
    )?;
    let after = run_once(&mut launcher, &command(&tiny, &[], None), 0, None)?;
    let peak = |ran: &measure::command::launch::Ran| ran.usage.peak_rss_bytes.unwrap_or(u64::MAX);
    println!("\n| run | peak RSS, KiB |\n|---|---|");
    println!("| a program that touches 200 MiB | {} |", peak(&big) / 1024);
    let bound = if after.usage.peak_rss_is_upper_bound {
        "≤ "
    } else {
        ""
    };
    println!(
        "| the tiny program right after it | {bound}{} |",
        peak(&after) / 1024
    );
    let text = tiny.display().to_string();
    let json = tool_json(&["time", "--json", "-", "--no-store", "-r", "300", "--", &text])?;
    let whole = &json["commands"][0];
    let reported = whole["to_exit_us"]["median"]
        .as_f64()
        .context("read to_exit_us")?;
    println!(
        "\n`underhood time -r 300` of it: median {reported:.1} us, peak RSS {} bytes",
        whole["peak_rss_bytes"]["median"]
    );
    Ok(lean.1 <= ALLOWED * lean.0
        && fat.1 <= ALLOWED * fat.0
        && peak(&big) > 200 << 20
        && peak(&after) <= 1 << 20)
}

/// Medians in microseconds: the loop's and ours, run by run in turn.
fn compare(programs: &Programs, runs: usize) -> Result<(f64, f64)> {
    let tiny = programs.get("tiny")?;
    let mut theirs = Loop::start(&programs.get("vfork")?, &[&tiny.display().to_string()])?;
    let mut launcher = launcher()?;
    let ours = measure::command::launch::Command {
        environment: Vec::new(),
        ..command(&tiny, &[], None)
    };
    let (mut theirs_us, mut ours_us) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        theirs_us.push(theirs.next_ns()? / 1e3);
        ours_us.push(run_once(&mut launcher, &ours, 0, None)?.usage.wall_ns as f64 / 1e3);
    }
    Ok((
        median(&theirs_us).context("no runs")?,
        median(&ours_us).context("no runs")?,
    ))
}

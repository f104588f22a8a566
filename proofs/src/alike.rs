//! A/A: a command compared with itself. Whoever calls it faster or slower is wrong.
//!
//! Each comparison is watched after every block up to 60 and counts as wrong when any look says faster or slower: the
//! way a person with a tool uses it. The same commands, the same noise and the same number of comparisons for
//! hyperfine, whose sentence "A ran x ± y times faster than B" is wrong when x − y is above 1.

use std::path::Path;
use std::process::{Command as Process, Stdio};

use anyhow::{Context, Result};
use measure::command::block;
use measure::command::compare::{self, Rule};
use record::model::{CommandMetric, Verdict};
use stats::symmetric::SymmetricSequence;

use crate::common::{Busy, Programs, command, runner, scaled};

const COMPARISONS: usize = 500;
const BLOCKS: u32 = 60;
const METRICS: [CommandMetric; 2] = [CommandMetric::ToExit, CommandMetric::Cpu];

pub fn run(scale: f64) -> Result<bool> {
    let comparisons = scaled(COMPARISONS, scale);
    let programs = Programs::new()?;
    let spin = programs.get("spin")?;
    let _busy = Busy::start(&programs, 2)?;
    // About 1, 2 and 4 ms on a quiet processor.
    let amounts = ["300000", "900000", "2100000"];
    let mut wrong = [0_usize; 2 * METRICS.len()];
    for index in 0..comparisons {
        let arm = command(&spin, &[amounts[index % amounts.len()]], None);
        let mut runner = runner(vec![arm.clone(), arm])?;
        let verdicts = watch(&mut runner, index as u64)?;
        for (count, called) in wrong.iter_mut().zip(verdicts) {
            *count += usize::from(called);
        }
    }
    println!("\n| tool | metric | comparisons | called different | share |\n|---|---|---|---|---|");
    let row = |tool: &str, metric: &str, count: usize| {
        println!(
            "| {tool} | {metric} | {comparisons} | {count} | {:.1} % |",
            100.0 * count as f64 / comparisons as f64
        );
    };
    row("underhood, watched after every block to 60", "wall", wrong[0]);
    row("underhood, watched after every block to 60", "cpu", wrong[1]);
    row("the rule by sizes, watched likewise", "wall", wrong[2]);
    row("the rule by sizes, watched likewise", "cpu", wrong[3]);
    let (sentence, welch) = hyperfine(programs.folder(), &spin, &amounts, comparisons)?;
    row("hyperfine -N, 30 runs, its own sentence", "wall", sentence);
    row(
        "hyperfine -N, 30 runs, Welch test at 5 % on its exported times",
        "wall",
        welch,
    );
    // What 5 % may show in so many comparisons by chance is not held against it in the small form only.
    let allowed = 0.05 * comparisons as f64
        + if scale < 1.0 {
            3.0 * (0.0475 * comparisons as f64).sqrt()
        } else {
            0.0
        };
    Ok(wrong[..METRICS.len()]
        .iter()
        .all(|&count| count as f64 <= allowed))
}

/// Whether any look at any metric said faster or slower: by our rule, then by sizes.
fn watch(runner: &mut dyn block::ArmRunner, seed: u64) -> Result<[bool; 2 * METRICS.len()]> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut blocks = Vec::new();
    let mut called = [false; 2 * METRICS.len()];
    let rule = Rule::default();
    let mut sizes = METRICS.map(|_| SymmetricSequence::new(rule.alpha));
    let different = |verdict: Option<Verdict>| matches!(verdict, Some(Verdict::Faster | Verdict::Slower));
    for index in 0..BLOCKS {
        blocks.push(block::run(runner, &[0, 1], index, "measure", random.u64(..))?);
        for (place, metric) in METRICS.into_iter().enumerate() {
            let ratios = compare::log_ratios(&blocks, metric, 0, 1);
            called[place] |= different(compare::comparison(&ratios, metric, 1, rule).map(|c| c.verdict));
            if let Some(&last) = ratios.last() {
                sizes[place].push(last);
            }
            let by_sizes = compare::verdict_of(&sizes[place].interval(), rule.margin);
            called[METRICS.len() + place] |= different(Some(by_sizes));
        }
    }
    Ok(called)
}

/// How often hyperfine's sentence excludes 1, and how often a Welch test on its times is below 5 %.
fn hyperfine(folder: &Path, spin: &Path, amounts: &[&str], comparisons: usize) -> Result<(usize, usize)> {
    let (mut sentence, mut welch) = (0, 0);
    // A file: into a pipe or what stands behind /dev/stdout it writes other things too.
    let export = folder.join("hyperfine.json");
    for index in 0..comparisons {
        let line = format!("{} {}", spin.display(), amounts[index % amounts.len()]);
        let status = Process::new("hyperfine")
            .args(["-N", "--warmup", "1", "--runs", "30", "--style", "none"])
            .arg("--export-json")
            .arg(&export)
            .args([&line, &line])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("run hyperfine; install it with apt-get install hyperfine")?;
        anyhow::ensure!(status.success(), "run hyperfine: {status}");
        let text = std::fs::read(&export).context("read hyperfine's figures")?;
        let json: serde_json::Value = serde_json::from_slice(&text).context("read hyperfine's figures")?;
        let figure = |arm: usize, name: &str| json["results"][arm][name].as_f64().unwrap_or(f64::NAN);
        let (mut fast, mut slow) = (0, 1);
        if figure(1, "mean") < figure(0, "mean") {
            (fast, slow) = (1, 0);
        }
        // hyperfine's own formula: the relative errors added as if independent.
        let ratio = figure(slow, "mean") / figure(fast, "mean");
        let relative = |arm| figure(arm, "stddev") / figure(arm, "mean");
        let error = ratio * f64::hypot(relative(slow), relative(fast));
        sentence += usize::from(ratio - error > 1.0);
        let n = 30.0_f64;
        let (a, b) = (figure(0, "stddev").powi(2) / n, figure(1, "stddev").powi(2) / n);
        let t = (figure(0, "mean") - figure(1, "mean")) / (a + b).sqrt();
        let freedom = (a + b).powi(2) / ((a * a + b * b) / (n - 1.0));
        welch += usize::from(t.abs() > stats::special::student_quantile(0.975, freedom));
    }
    Ok((sentence, welch))
}

//! Power: a true slow-down must be seen, and soon.

use anyhow::{Context, Result};
use measure::command::block;
use measure::command::compare::{self, Rule};
use measure::command::launch;
use record::model::{CommandMetric, Verdict};
use stats::symmetric::SymmetricSequence;

use crate::common::{Busy, Programs, command, last_cpu, launcher, runner, scaled};

const TRIES: usize = 100;

struct Case {
    name: &'static str,
    metric: CommandMetric,
    /// The candidate's cost over the baseline's.
    factor: f64,
    blocks: u32,
    busy: usize,
    /// Whether the claim is made, or it is for information.
    required: bool,
}

const CASES: &[Case] = &[
    Case {
        name: "2 % of CPU, pinned, quiet",
        metric: CommandMetric::Cpu,
        factor: 1.02,
        blocks: 60,
        busy: 0,
        required: true,
    },
    Case {
        name: "2 % of CPU, beside two busy loops",
        metric: CommandMetric::Cpu,
        factor: 1.02,
        blocks: 80,
        busy: 2,
        required: true,
    },
    Case {
        name: "10 % of wall, pinned, quiet",
        metric: CommandMetric::ToExit,
        factor: 1.10,
        blocks: 30,
        busy: 0,
        required: true,
    },
    Case {
        name: "10 % of wall, pinned, beside two busy loops",
        metric: CommandMetric::ToExit,
        factor: 1.10,
        blocks: 30,
        busy: 2,
        required: true,
    },
    Case {
        name: "10 % of wall without waiting, pinned, beside two busy loops",
        metric: CommandMetric::Running,
        factor: 1.10,
        blocks: 30,
        busy: 2,
        required: false,
    },
];

pub fn run(scale: f64) -> Result<bool> {
    let tries = scaled(TRIES, scale);
    let programs = Programs::new()?;
    let turns = calibrated(&programs, 20e6)?;
    println!("\nA program of 20 ms: {turns} turns of the loop.\n");
    println!(
        "| true slow-down | blocks at most | called slower | called faster | median blocks | the rule by sizes |\n|---|---|---|---|---|---|"
    );
    let mut all = true;
    for case in CASES {
        let busy = Busy::start(&programs, case.busy)?;
        let spin = programs.get("spin")?;
        let slower = ((turns as f64 * case.factor) as u64).to_string();
        let cpus = Some(vec![last_cpu()?]);
        let (mut seen, mut wrong, mut needed, mut sizes) = (0, 0, Vec::new(), 0);
        for index in 0..tries {
            let arms = vec![
                command(&spin, &[&turns.to_string()], cpus.clone()),
                command(&spin, &[&slower], cpus.clone()),
            ];
            let (decision, by_sizes) = decide(arms, case, index as u64)?;
            sizes += usize::from(by_sizes);
            match decision {
                Some((Verdict::Slower, blocks)) => {
                    seen += 1;
                    needed.push(blocks);
                }
                Some((Verdict::Faster, _)) => wrong += 1,
                _ => {}
            }
        }
        drop(busy);
        needed.sort_unstable();
        let median = needed
            .get(needed.len() / 2)
            .map_or_else(|| "none".to_owned(), ToString::to_string);
        println!(
            "| {} | {} | {seen} of {tries} | {wrong} | {median} | {sizes} of {tries} |",
            case.name, case.blocks
        );
        all &= !case.required || seen as f64 >= 0.9 * tries as f64;
    }
    Ok(all)
}

/// The verdict by our rule with the number of blocks it took, and whether the rule by sizes saw the slow-down too.
type Decision = (Option<(Verdict, usize)>, bool);

fn decide(arms: Vec<launch::Command>, case: &Case, seed: u64) -> Result<Decision> {
    let mut runner = runner(arms)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut blocks = Vec::new();
    let (mut decision, mut by_sizes, mut sizes) =
        (None, false, SymmetricSequence::new(Rule::default().alpha));
    for index in 0..case.blocks {
        blocks.push(block::run(
            &mut runner,
            &[0, 1],
            index,
            "measure",
            random.u64(..),
        )?);
        let ratios = compare::log_ratios(&blocks, case.metric, 0, 1);
        if decision.is_none() {
            let verdict = compare::comparison(&ratios, case.metric, 1, Rule::default()).map(|c| c.verdict);
            decision = verdict
                .filter(|v| matches!(v, Verdict::Faster | Verdict::Slower))
                .map(|v| (v, blocks.len()));
        }
        if let Some(&last) = ratios.last() {
            sizes.push(last);
        }
        by_sizes |= compare::verdict_of(&sizes.interval(), Rule::default().margin) == Verdict::Slower;
        if decision.is_some() && by_sizes {
            break;
        }
    }
    Ok((decision, by_sizes))
}

/// The number of turns that takes so many nanoseconds of processor time here.
fn calibrated(programs: &Programs, target_ns: f64) -> Result<u64> {
    let spin = programs.get("spin")?;
    let mut launcher = launcher()?;
    let probe = 20_000_000_u64;
    let mut times = Vec::new();
    for _ in 0..9 {
        let ran = launch::run_once(
            &mut launcher,
            &command(&spin, &[&probe.to_string()], None),
            0,
            None,
        )?;
        times.push(ran.usage.cpu_ns.context("read the CPU time")? as f64);
    }
    let middle = stats::summary::median(&times).context("time the loop")?;
    Ok((probe as f64 * target_ns / middle) as u64)
}

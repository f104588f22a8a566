//! Fill and drain: allocate many blocks, then free them all, as parsers, requests and frames do.
//!
//! Caches of a few blocks for each size overflow here, so this shows what lies behind them.

use measure::benchmark::Info;
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::{Random, empty_ns};
use super::resident::{BLOW_UP, Blocks, MARK, record_blow_up};
use super::suite::{COUNT, CPUS, HeapBenchmark, MAX_SIZE, THREADS};
use super::team;

const BLOCKS: Parameter = Parameter {
    name: "blocks",
    default: "2000",
    unit: "blocks",
    summary: "blocks of one burst",
    kind: Kind::Number {
        min: 1,
        max: 10_000_000,
    },
};

const ORDER: Parameter = Parameter {
    name: "order",
    default: "fifo",
    unit: "",
    summary: "the oldest first, the newest first, or any",
    kind: Kind::Word(&["fifo", "lifo", "random"]),
};

pub struct Burst;

impl HeapBenchmark for Burst {
    const INFO: Info = Info {
        suite: "heap",
        name: "burst",
        summary: "allocate many blocks, then free them all; one operation is one block",
        parameters: &[THREADS, BLOCKS, MAX_SIZE, ORDER, COUNT, CPUS],
        metrics: &[BLOW_UP],
        presets: &[],
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, burst) = (trial.number("threads")?, trial.number("blocks")?);
        let (sizes, order) = (trial.number("max_size")? - 1, trial.text("order")?.to_owned());
        let (clock, seed) = (trial.clock(), trial.seed());
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                let prepare = |thread| Ok((Vec::with_capacity(burst as usize), Random::new(seed, thread)));
                team::together(clock, threads, count, prepare, |(blocks, random)| {
                    let (mut verified, mut left) = (0, count);
                    while left > 0 {
                        let now = burst.min(left);
                        fill(heap, blocks, random, sizes, now);
                        verified += drain(blocks, random, &order);
                        left -= now;
                    }
                    verified
                })
            },
            || empty_ns(clock, 1),
        )?;
        record_blow_up(trial, threads * burst, sizes)
    }
}

fn fill<H: Heap>(heap: H, blocks: &mut Blocks<H>, random: &mut Random, sizes: u64, count: u64) {
    for _ in 0..count {
        if let Some(mut block) = Block::new(heap, random.below(sizes) as usize + 1) {
            block.mark(MARK);
            blocks.push(block);
        }
    }
}

/// Frees all blocks; returns how many still had their mark.
fn drain<H: Heap>(blocks: &mut Blocks<H>, random: &mut Random, order: &str) -> u64 {
    let mut verified = 0;
    let mut check = |block: Block<H>| verified += u64::from(block.marked() == MARK);
    match order {
        "lifo" => {
            while let Some(block) = blocks.pop() {
                check(block);
            }
        }
        "random" => {
            while !blocks.is_empty() {
                check(blocks.swap_remove(random.below(blocks.len() as u64) as usize));
            }
        }
        _ => blocks.drain(..).for_each(check),
    }
    verified
}

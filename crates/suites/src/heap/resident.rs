//! Each thread keeps a set of live blocks and replaces a random one: how a program with state behaves.
//!
//! Freed blocks are old ones, so the heap's newest-first shortcuts help less than in heaptest, and what it cannot use
//! again shows as blow-up: resident memory over the bytes that are alive.

use measure::benchmark::{Info, MetricInfo};
use measure::model::Unit;
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::{Random, empty_ns};
use super::suite::{COUNT, CPUS, HeapBenchmark, LIVE, MAX_SIZE, THREADS, no_memory};
use super::team;

pub struct Resident;

/// Peak resident growth over the bytes that are alive.
pub const BLOW_UP: MetricInfo = MetricInfo {
    name: "blow_up",
    unit: Unit::Ratio,
};

/// A set of live blocks.
pub type Blocks<H> = Vec<Block<H>>;

/// A set of `live` blocks of random sizes, each marked.
pub fn filled<H: Heap>(heap: H, live: u64, sizes: u64, random: &mut Random) -> Result<Blocks<H>, TrialError> {
    (0..live)
        .map(|_| {
            let size = random.below(sizes) + 1;
            let mut block = Block::new(heap, size as usize).ok_or_else(|| no_memory(size))?;
            block.mark(MARK);
            Ok(block)
        })
        .collect()
}

/// What every live block starts with.
pub const MARK: u8 = 0x5a;

/// Replaces `count` random blocks; returns how many of the old ones still had their mark.
#[inline]
pub fn replace<H: Heap>(
    heap: H,
    blocks: &mut [Block<H>],
    sizes: u64,
    random: &mut Random,
    count: u64,
) -> u64 {
    let mut verified = 0;
    for _ in 0..count {
        let slot = random.below(blocks.len() as u64) as usize;
        let size = random.below(sizes) + 1;
        let Some(mut block) = Block::new(heap, size as usize) else {
            return verified;
        };
        block.mark(MARK);
        let old = std::mem::replace(&mut blocks[slot], block);
        verified += u64::from(old.marked() == MARK);
    }
    verified
}

/// Records the blow-up: mean size of a block is half of the largest.
pub fn record_blow_up(trial: &mut Trial, blocks: u64, sizes: u64) -> Result<(), TrialError> {
    let alive = blocks as f64 * (sizes as f64 + 1.0) / 2.0;
    let peak = trial.peak_growth_bytes()? as f64;
    trial.value("blow_up", peak / alive);
    Ok(())
}

impl HeapBenchmark for Resident {
    const INFO: Info = Info {
        suite: "heap",
        name: "resident",
        summary: "each thread keeps live blocks and replaces a random one",
        parameters: &[THREADS, LIVE, MAX_SIZE, COUNT, CPUS],
        metrics: &[BLOW_UP],
        presets: &[],
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, live) = (trial.number("threads")?, trial.number("live")?);
        let sizes = trial.number("max_size")? - 1;
        let (clock, seed) = (trial.clock(), trial.seed());
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                let prepare = |thread| {
                    let mut random = Random::new(seed, thread);
                    Ok((filled(heap, live, sizes, &mut random)?, random))
                };
                team::together(clock, threads, count, prepare, |(blocks, random)| {
                    replace(heap, blocks, sizes, random, count)
                })
            },
            || empty_ns(clock, 2),
        )?;
        record_blow_up(trial, threads * live, sizes)
    }
}

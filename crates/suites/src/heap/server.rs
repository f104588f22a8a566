//! Blocks that outlive their thread, after Larson and Krishnan (ISMM 1998): each thread replaces blocks of a set, then
//! hands the set to a new thread and ends. A server's connections do that.
//!
//! Heaps with a cache for each thread must give up or hand on what a dead thread had.

use measure::benchmark::Info;
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::Heap;

use super::random::{Random, empty_ns};
use super::resident::{BLOW_UP, Blocks, filled, record_blow_up, replace};
use super::suite::{COUNT, CPUS, HeapBenchmark, LIVE, MAX_SIZE, THREADS};
use super::team;

const GENERATIONS: Parameter = Parameter {
    name: "generations",
    default: "8",
    unit: "",
    summary: "threads that one set of blocks sees in a sample, one after the other",
    kind: Kind::Number { min: 1, max: 100_000 },
};

pub struct Server;

impl HeapBenchmark for Server {
    const INFO: Info = Info {
        suite: "heap",
        name: "server",
        summary: "blocks survive their thread: replace, hand the set to a new thread, end",
        parameters: &[THREADS, LIVE, MAX_SIZE, GENERATIONS, COUNT, CPUS],
        metrics: &[BLOW_UP],
        presets: &[],
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, live) = (trial.number("threads")?, trial.number("live")?);
        let (sizes, generations) = (trial.number("max_size")? - 1, trial.number("generations")?);
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
                    let mut verified = 0;
                    let mut left = count;
                    for generation in (1..=generations).rev() {
                        let share = left / generation;
                        left -= share;
                        verified += one_life(heap, blocks, random, sizes, share);
                    }
                    verified
                })
            },
            || empty_ns(clock, 2),
        )?;
        record_blow_up(trial, threads * live, sizes)
    }
}

/// A new thread replaces blocks of the set and ends.
fn one_life<H: Heap>(heap: H, blocks: &mut Blocks<H>, random: &mut Random, sizes: u64, count: u64) -> u64 {
    std::thread::scope(|scope| {
        scope
            .spawn(|| replace(heap, blocks, sizes, random, count))
            .join()
            .unwrap_or(0)
    })
}

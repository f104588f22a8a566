//! The first article's program: each of N threads allocates a block of random size and frees it at once, K times.
//!
//! The plainest possible load, and the one that shows a shared lock at its worst: the threads do nothing else.
//! Starting and joining the threads lies inside the time, as in the article.

use measure::benchmark::{Info, Preset};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::{Random, empty_ns};
use super::suite::{COUNT, CPUS, HeapBenchmark, MAX_SIZE, THREADS};
use super::team;

pub struct Heaptest;

impl HeapBenchmark for Heaptest {
    const INFO: Info = Info {
        suite: "heap",
        name: "heaptest",
        summary: "allocate a block of random size and free it at once; thread start and join inside the time",
        parameters: &[THREADS, MAX_SIZE, COUNT, CPUS],
        metrics: &[],
        presets: &[Preset {
            name: "seed",
            summary: "the first article's run: 3 threads, 2048 bytes, a million operations each",
            settings: &[("threads", "3"), ("max_size", "2048"), ("count", "1000000")],
        }],
        // A pair of calls through the dynamic linker's table, each with a load and a store at least.
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, sizes) = (trial.number("threads")?, trial.number("max_size")? - 1);
        let (clock, seed) = (trial.clock(), trial.seed());
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                team::with_start(clock, threads, count, |thread| {
                    let mut random = Random::new(seed, thread);
                    let mut verified = 0;
                    for _ in 0..count {
                        let size = random.below(sizes) + 1;
                        verified += u64::from(Block::new(heap, size as usize).is_some());
                    }
                    verified
                })
            },
            || empty_ns(clock, 1),
        )
    }
}

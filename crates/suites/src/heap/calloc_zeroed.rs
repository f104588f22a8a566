//! Zeroed blocks: allocate, find them zero, dirty them, free.
//!
//! A heap that knows which pages come fresh from the system saves the clearing; one that forgets to clear fails here.

use measure::benchmark::Info;
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::empty_ns;
use super::suite::{COUNT, CPUS, HeapBenchmark, THREADS};
use super::team;

const SIZE: Parameter = Parameter {
    name: "size",
    default: "1k",
    unit: "B",
    summary: "bytes of a block",
    kind: Kind::Number { min: 8, max: 1 << 32 },
};

pub struct CallocZeroed;

impl HeapBenchmark for CallocZeroed {
    const INFO: Info = Info {
        suite: "heap",
        name: "calloc_zeroed",
        summary: "allocate a zeroed block, check and dirty its first word, free it",
        parameters: &[THREADS, SIZE, COUNT, CPUS],
        metrics: &[],
        presets: &[],
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, size) = (trial.number("threads")?, trial.number("size")? as usize);
        let clock = trial.clock();
        let amount = trial.amount("count")?;
        // Once outside of the time: every byte, not only the first word, on a block that was dirty before.
        let mut dirty = Block::new(heap, size).ok_or_else(|| super::suite::no_memory(size as u64))?;
        dirty.fill(size, 0xff);
        drop(dirty);
        if !Block::zeroed(heap, size).is_some_and(|block| block.is_filled(size, 0)) {
            return Err(TrialError::Verification(
                "the heap's zeroed block was not zero".to_owned(),
            ));
        }
        trial.collect(
            amount,
            |count| {
                team::together(clock, threads, count, Ok, |_| {
                    let mut verified = 0;
                    for _ in 0..count {
                        let Some(mut block) = Block::zeroed(heap, size) else {
                            return verified;
                        };
                        verified += u64::from(block.number() == 0);
                        block.set_number(u64::MAX);
                    }
                    verified
                })
            },
            || empty_ns(clock, 0),
        )
    }
}

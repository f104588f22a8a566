//! A buffer that grows by half until it is full, again and again: strings, vectors, output buffers.
//!
//! A heap that can grow a block in place or move its pages saves the copying; the contents must survive either way.

use measure::benchmark::Info;
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::empty_ns;
use super::suite::{COUNT, CPUS, HeapBenchmark, THREADS};
use super::team;

const LARGEST: Parameter = Parameter {
    name: "largest",
    default: "256k",
    unit: "B",
    summary: "size at which the buffer is given up",
    kind: Kind::Number {
        min: 17,
        max: 1 << 32,
    },
};

/// Size of a new buffer.
const FIRST: u64 = 16;

pub struct ReallocGrowth;

impl HeapBenchmark for ReallocGrowth {
    const INFO: Info = Info {
        suite: "heap",
        name: "realloc_growth",
        summary: "a buffer grows from 16 bytes by half each time; one operation is one step",
        parameters: &[THREADS, LARGEST, COUNT, CPUS],
        metrics: &[],
        presets: &[],
        floor_ns: 1.0,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, largest) = (trial.number("threads")?, trial.number("largest")?);
        let clock = trial.clock();
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                team::together(clock, threads, count, Ok, |thread| {
                    grow(heap, *thread as u8, largest, count)
                })
            },
            || empty_ns(clock, 0),
        )
    }
}

fn grow<H: Heap>(heap: H, mark: u8, largest: u64, count: u64) -> u64 {
    let mut verified = 0;
    let mut held: Option<(Block<H>, u64)> = None;
    for _ in 0..count {
        held = match held.take() {
            Some((block, size)) if size < largest => {
                let larger = (size + size / 2).min(largest);
                block.resized(larger as usize).map(|block| (block, larger))
            }
            _ => Block::new(heap, FIRST as usize).map(|mut block| {
                block.mark(mark);
                (block, FIRST)
            }),
        };
        let Some((block, _)) = &held else { return verified };
        verified += u64::from(block.marked() == mark);
    }
    verified
}

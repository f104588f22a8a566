//! Small blocks of different threads in one cache line: each write then takes the line from the other processor.
//!
//! *Active*: the heap itself puts blocks of different threads side by side. *Passive*: one thread allocated neighbours and gave
//! them away; each owner frees its block and takes another of the same size, and a heap that hands the freed
//! block out again lets the sharing go on. (After Berger's cache-thrash and cache-scratch, ASPLOS 2000.)

use std::sync::Mutex;

use measure::benchmark::Info;
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::empty_ns;
use super::suite::{COUNT, CPUS, HeapBenchmark, THREADS, no_memory};
use super::team;

/// Size of a block: eight of them fit into a cache line of 64 bytes.
const SIZE: usize = 8;

const KIND: Parameter = Parameter {
    name: "kind",
    default: "active+passive",
    unit: "",
    summary: "active: each thread allocates its block; passive: it replaces one that another thread allocated",
    kind: Kind::Word(&["active", "passive"]),
};

const WRITES: Parameter = Parameter {
    name: "writes",
    default: "1000",
    unit: "",
    summary: "writes to a block before it is replaced",
    kind: Kind::Number { min: 1, max: 1 << 40 },
};

pub struct FalseSharing;

impl HeapBenchmark for FalseSharing {
    const INFO: Info = Info {
        suite: "heap",
        name: "false_sharing",
        summary: "every thread counts up in a small block of its own; one operation is one write",
        parameters: &[THREADS, KIND, WRITES, COUNT, CPUS],
        metrics: &[],
        presets: &[],
        // A load and a store to the nearest cache, forwarded: no processor does it in a tenth of a nanosecond.
        floor_ns: 0.1,
    };

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, writes) = (trial.number("threads")?, trial.number("writes")?);
        let passive = trial.text("kind")? == "passive";
        let clock = trial.clock();
        let amount = trial.amount("count")?;
        let new = || Block::new(heap, SIZE).ok_or_else(|| no_memory(SIZE as u64));
        trial.collect(
            amount,
            |count| {
                // Neighbours of one thread, handed out to all.
                let neighbours: Result<Vec<_>, _> =
                    (0..if passive { threads } else { 0 }).map(|_| new()).collect();
                let neighbours = Mutex::new(neighbours?);
                let prepare = |_| {
                    let given = neighbours.lock().ok().and_then(|mut blocks| blocks.pop());
                    given.map_or_else(new, Ok)
                };
                team::together(clock, threads, count, prepare, |block| {
                    let (mut verified, mut left) = (0, count);
                    while left > 0 {
                        let now = writes.min(left);
                        block.set_number(0);
                        for _ in 0..now {
                            block.increment();
                        }
                        verified += block.number();
                        left -= now;
                        // Free first, then allocate: the heap may give the same place again.
                        let Some(next) = exchange(heap, block) else {
                            return verified;
                        };
                        *block = next;
                    }
                    verified
                })
            },
            || empty_ns(clock, 0),
        )
    }
}

/// A small block in the place of the one that is freed for it. The holder keeps a stand-in of another size class for the
/// moment between, so that the freed block is the newest of its own.
fn exchange<H: Heap>(heap: H, block: &mut Block<H>) -> Option<Block<H>> {
    let stand_in = Block::new(heap, 4096)?;
    drop(std::mem::replace(block, stand_in));
    Block::new(heap, SIZE)
}

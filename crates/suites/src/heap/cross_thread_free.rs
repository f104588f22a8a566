//! One thread allocates, another frees: producers and consumers, the pattern at which heaps differ most.
//!
//! A heap that keeps free blocks per thread must send them home. Blocks travel in batches, so that the channel between
//! the threads costs little beside them, and the batches' own vectors are used again.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use measure::benchmark::Info;
use measure::model::{Case, Support};
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::{Random, empty_ns};
use super::resident::{Blocks, MARK};
use super::suite::{COUNT, CPUS, HeapBenchmark, MAX_SIZE, THREADS};
use super::team;

/// Batches between a producer and its consumer.
const IN_FLIGHT: usize = 4;

const BATCH: Parameter = Parameter {
    name: "batch",
    default: "256",
    unit: "blocks",
    summary: "blocks that are handed over at once",
    kind: Kind::Number {
        min: 1,
        max: 1_000_000,
    },
};

pub struct CrossThreadFree;

enum Side<H: Heap> {
    Producer {
        full: SyncSender<Blocks<H>>,
        empty: Receiver<Blocks<H>>,
        random: Random,
    },
    Consumer {
        full: Receiver<Blocks<H>>,
        empty: SyncSender<Blocks<H>>,
    },
}

impl HeapBenchmark for CrossThreadFree {
    const INFO: Info = Info {
        suite: "heap",
        name: "cross_thread_free",
        summary: "half of the threads allocate, the other half frees what they get from them",
        parameters: &[THREADS, MAX_SIZE, BATCH, COUNT, CPUS],
        metrics: &[],
        presets: &[],
        floor_ns: 1.0,
    };

    fn support(&self, case: &Case) -> Support {
        match case
            .parameter("threads")
            .and_then(|text| text.parse::<u64>().ok())
        {
            Some(threads) if threads % 2 == 0 => Support::Yes,
            _ => {
                Support::No("producers and consumers come in pairs; set threads to an even number".to_owned())
            }
        }
    }

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, sizes) = (trial.number("threads")?, trial.number("max_size")? - 1);
        let batch = trial.number("batch")?;
        let (clock, seed) = (trial.clock(), trial.seed());
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                let sides = std::sync::Mutex::new(sides(threads / 2, seed));
                let prepare = |_| {
                    let taken = sides.lock().ok().and_then(|mut sides| sides.pop());
                    taken.ok_or_else(|| TrialError::Verification("a thread found no partner".to_owned()))
                };
                team::together(clock, threads, count, prepare, |side| match side {
                    Side::Producer { full, empty, random } => {
                        produce(heap, (full, empty), random, sizes, batch, count)
                    }
                    Side::Consumer { full, empty } => consume((full, empty), count),
                })
            },
            || empty_ns(clock, 1) / 2.0,
        )
    }
}

fn sides<H: Heap>(pairs: u64, seed: u64) -> Vec<Side<H>> {
    (0..pairs)
        .flat_map(|pair| {
            let (full, full_end) = sync_channel(IN_FLIGHT);
            let (empty, empty_end) = sync_channel(IN_FLIGHT + 2);
            let producer = Side::Producer {
                full,
                empty: empty_end,
                random: Random::new(seed, pair),
            };
            [
                producer,
                Side::Consumer {
                    full: full_end,
                    empty,
                },
            ]
        })
        .collect()
}

fn produce<H: Heap>(
    heap: H,
    (full, empty): (&SyncSender<Blocks<H>>, &Receiver<Blocks<H>>),
    random: &mut Random,
    sizes: u64,
    batch: u64,
    count: u64,
) -> u64 {
    let mut done = 0;
    while done < count {
        let mut blocks = empty
            .try_recv()
            .unwrap_or_else(|_| Vec::with_capacity(batch as usize));
        for _ in 0..batch.min(count - done) {
            let Some(mut block) = Block::new(heap, random.below(sizes) as usize + 1) else {
                return done;
            };
            block.mark(MARK);
            blocks.push(block);
            done += 1;
        }
        if full.send(blocks).is_err() {
            return done;
        }
    }
    done
}

fn consume<H: Heap>((full, empty): (&Receiver<Blocks<H>>, &SyncSender<Blocks<H>>), count: u64) -> u64 {
    let mut verified = 0;
    let mut received = 0;
    while received < count {
        let Ok(mut blocks) = full.recv() else {
            return verified;
        };
        received += blocks.len() as u64;
        for block in blocks.drain(..) {
            verified += u64::from(block.marked() == MARK);
        }
        // The producer may be gone already; then nobody needs the vector.
        let _ = empty.try_send(blocks);
    }
    verified
}

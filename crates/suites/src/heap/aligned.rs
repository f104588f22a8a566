//! Aligned blocks, for vector instructions, cache lines and direct input and output.
//!
//! Some heaps serve them from the common path, others take a lock or waste up to a whole alignment for each.

use measure::benchmark::Info;
use measure::model::{Case, Support};
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Block, Heap};

use super::random::{Random, empty_ns};
use super::suite::{COUNT, CPUS, HeapBenchmark, MAX_SIZE, THREADS};
use super::team;

const ALIGNMENT: Parameter = Parameter {
    name: "alignment",
    default: "64",
    unit: "B",
    summary: "a power of two",
    kind: Kind::Number { min: 1, max: 1 << 20 },
};

pub struct Aligned;

impl HeapBenchmark for Aligned {
    const INFO: Info = Info {
        suite: "heap",
        name: "aligned",
        summary: "allocate an aligned block of random size, check its address, free it at once",
        parameters: &[THREADS, ALIGNMENT, MAX_SIZE, COUNT, CPUS],
        metrics: &[],
        presets: &[],
        floor_ns: 1.0,
    };

    fn support(&self, case: &Case) -> Support {
        match case
            .parameter("alignment")
            .and_then(|text| text.parse::<u64>().ok())
        {
            Some(alignment) if alignment.is_power_of_two() => Support::Yes,
            _ => Support::No("alignments are powers of two; set alignment to 16, 64, 4096, …".to_owned()),
        }
    }

    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError> {
        let (threads, sizes) = (trial.number("threads")?, trial.number("max_size")? - 1);
        let alignment = trial.number("alignment")? as usize;
        let (clock, seed) = (trial.clock(), trial.seed());
        let amount = trial.amount("count")?;
        trial.collect(
            amount,
            |count| {
                team::together(
                    clock,
                    threads,
                    count,
                    |thread| Ok(Random::new(seed, thread)),
                    |random| {
                        let mut verified = 0;
                        for _ in 0..count {
                            let size = random.below(sizes) as usize + 1;
                            let Some(block) = Block::<H, true>::aligned(heap, alignment, size) else {
                                return verified;
                            };
                            verified += u64::from(block.address() % alignment == 0);
                        }
                        verified
                    },
                )
            },
            || empty_ns(clock, 1),
        )
    }
}

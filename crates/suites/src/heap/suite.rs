//! What all heap benchmarks share: parameters, the choice of the heap, and the checks before a trial.

use measure::benchmark::{Benchmark, Info};
use measure::model::{Case, Support};
use measure::parameter::{Kind, Parameter};
use measure::trial::{Trial, TrialError};
use os::heap::{Heap, Visitor};

/// More threads than this are refused before they bring the machine down.
pub const MAX_THREADS: u64 = 16_384;

/// Number of threads.
pub const THREADS: Parameter = Parameter {
    name: "threads",
    default: "2",
    unit: "",
    summary: "threads that work at the same time",
    kind: Kind::Number {
        min: 1,
        max: MAX_THREADS,
    },
};

/// One above the largest size, as the first article counts it.
pub const MAX_SIZE: Parameter = Parameter {
    name: "max_size",
    default: "2048",
    unit: "B",
    summary: "sizes are random from 1 to this less one",
    kind: Kind::Number { min: 0, max: 1 << 30 },
};

/// Blocks that each thread keeps.
pub const LIVE: Parameter = Parameter {
    name: "live",
    default: "1000",
    unit: "blocks",
    summary: "blocks that each thread keeps",
    kind: Kind::Number {
        min: 1,
        max: 10_000_000,
    },
};

/// Operations of each thread in one sample.
pub const COUNT: Parameter = Parameter {
    name: "count",
    default: "auto",
    unit: "",
    summary: "operations of each thread in one sample; auto: as many as last about 20 ms",
    kind: Kind::NumberOrAuto { min: 0, max: 1 << 40 },
};

/// Number of processors.
pub const CPUS: Parameter = Parameter {
    name: "cpus",
    default: "0",
    unit: "",
    summary: "processors that the threads share; 0: all that this process may use",
    kind: Kind::Number { min: 0, max: 1 << 16 },
};

/// A heap benchmark: like [`Benchmark`], with the heap as a type.
pub trait HeapBenchmark: Sync {
    /// Its description.
    const INFO: Info;

    /// What this benchmark cannot do, beside what all cannot.
    fn support(&self, case: &Case) -> Support {
        let _ = case;
        Support::Yes
    }

    /// Runs one trial with this heap.
    ///
    /// # Errors
    /// [`TrialError`].
    fn run<H: Heap>(&self, heap: H, trial: &mut Trial) -> Result<(), TrialError>;
}

/// Makes a [`Benchmark`] of a [`HeapBenchmark`].
pub struct Heaped<B>(pub B);

impl<B: HeapBenchmark> Benchmark for Heaped<B> {
    fn info(&self) -> &'static Info {
        const { &B::INFO }
    }

    fn support(&self, case: &Case) -> Support {
        let number = |name: &str| case.parameter(name).and_then(|text| text.parse::<u64>().ok());
        if number("max_size").is_some_and(|max| max < 2) {
            return Support::No(
                "no size lies between 1 and max_size − 1; set max_size to 2 or more".to_owned(),
            );
        }
        if number("count") == Some(0) {
            return Support::No(
                "count=0 does no operation, so there is nothing to divide by; set count to 1 or more"
                    .to_owned(),
            );
        }
        if case.subject == "private_heap_noserialize" && number("threads").is_some_and(|threads| threads > 1)
        {
            return Support::No("a heap without a lock serves one thread; set threads to 1".to_owned());
        }
        self.0.support(case)
    }

    fn run(&self, trial: &mut Trial) -> Result<(), TrialError> {
        let subject = trial.subject().to_owned();
        let visitor = Run {
            benchmark: &self.0,
            trial,
        };
        os::heap::with(&subject, visitor).map_err(TrialError::Case)?
    }
}

struct Run<'a, B> {
    benchmark: &'a B,
    trial: &'a mut Trial,
}

impl<B: HeapBenchmark> Visitor for Run<'_, B> {
    type Output = Result<(), TrialError>;

    fn visit<H: Heap>(self, heap: H) -> Self::Output {
        if H::ONE_THREAD && self.trial.number("threads").is_ok_and(|threads| threads > 1) {
            return Err(TrialError::Case("this heap serves one thread".to_owned()));
        }
        self.benchmark.run(heap, self.trial)
    }
}

/// The error of a heap that gave no memory.
pub fn no_memory(size: u64) -> TrialError {
    TrialError::Verification(format!("the heap gave no block of {size} bytes"))
}

//! Several copies of one program at once: how much of its memory they share.
//!
//! All copies are started, and each stands still at its entry point until the last one is there. Then the kernel is asked what
//! each has for itself: what relocations wrote to is no longer shared.

use std::path::Path;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use measure::benchmark::{Benchmark, Info, MetricInfo};
use measure::model::{Case, Support, Unit};
use measure::parameter::{Kind, Parameter};
use measure::trial::{Amount, Sample, Trial, TrialError};
use os::process::{End, Memory, Spec, Visit};

use super::set::{self, CROSS, FUNCTIONS, GLOBALS, LIBRARIES, NAME_LENGTH, REFERENCES};
use super::subject;

const INSTANCES: Parameter = Parameter {
    name: "instances",
    default: "8",
    unit: "",
    summary: "copies of the program that run at once",
    kind: Kind::Number { min: 1, max: 256 },
};

pub struct Instances;

const fn bytes(name: &'static str) -> MetricInfo {
    MetricInfo {
        name,
        unit: Unit::Bytes,
    }
}

const INFO: Info = Info {
    suite: "load",
    name: "instances",
    summary: "start several copies of a program and see what memory they share",
    parameters: &[
        INSTANCES,
        LIBRARIES,
        FUNCTIONS,
        GLOBALS,
        REFERENCES,
        NAME_LENGTH,
        CROSS,
    ],
    metrics: &[
        bytes("private_bytes"),
        bytes("shared_bytes"),
        bytes("proportional_bytes"),
    ],
    presets: &[],
    floor_ns: 500.0,
};

impl Benchmark for Instances {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn takes(&self, subject: &str) -> bool {
        subject::starts(subject)
    }

    fn support(&self, case: &Case) -> Support {
        set::elf_support(case)
    }

    fn run(&self, trial: &mut Trial) -> Result<(), TrialError> {
        let program = set::program()?;
        let instances = trial.number("instances")? as usize;
        // One trial is one process, so there is one meeting place.
        let meeting = MEETING.get_or_init(|| Meeting::of(instances));
        let clock = trial.clock();
        let mut all = Vec::new();
        trial.collect(
            Amount::Fixed(1),
            |_| {
                let begin = clock.now();
                let seen = together(&program, instances, meeting)?;
                let elapsed_ns = clock.ns(begin, clock.now());
                let verified = seen.len() == instances;
                all.extend(seen);
                Ok(Sample {
                    elapsed_ns,
                    threads: 1,
                    operations: 1,
                    verified: u64::from(verified),
                    waited_ns: None,
                })
            },
            || 0.0,
        )?;
        let mut tell = |name, of: fn(&Memory) -> u64| {
            let values: Vec<f64> = all.iter().map(|memory| of(memory) as f64).collect();
            trial.median(name, &values);
        };
        tell("private_bytes", |memory| memory.private);
        tell("shared_bytes", |memory| memory.shared);
        tell("proportional_bytes", |memory| memory.proportional);
        Ok(())
    }
}

/// How long the watchers wait for each other. A copy that fails never comes, and then the sample is an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the watchers of all copies meet, again and again. Unlike the standard library's barrier it gives up.
struct Meeting {
    of: usize,
    came: Mutex<usize>,
    changed: Condvar,
}

static MEETING: OnceLock<Meeting> = OnceLock::new();
/// What they saw.
static SEEN: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

impl Meeting {
    const fn of(of: usize) -> Self {
        Self {
            of,
            came: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// Waits until the number of those who came, ever, is a multiple of the whole.
    fn wait(&self) {
        let mut came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        *came += 1;
        let goal = came.div_ceil(self.of) * self.of;
        self.changed.notify_all();
        // Whether it was reached shows in what was seen.
        let _came = self
            .changed
            .wait_timeout_while(came, PATIENCE, |came| *came < goal);
    }
}

/// At the entry of one copy: waits for the others, looks, and waits until all have looked.
fn meet(pid: u32) {
    let Some(meeting) = MEETING.get() else { return };
    meeting.wait();
    if let Some(memory) = os::process::memory(pid) {
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
    meeting.wait();
}

fn together(program: &Path, instances: usize, meeting: &Meeting) -> Result<Vec<Memory>, TrialError> {
    // A sample that failed may have left the count uneven.
    *meeting.came.lock().unwrap_or_else(PoisonError::into_inner) = 0;
    let visit = Visit {
        at_last: Some(meet),
        ..Visit::to_entry(1)
    };
    let ends: Vec<_> = std::thread::scope(|scope| {
        let visits: Vec<_> = (0..instances)
            .map(|_| scope.spawn(move || os::process::visit(&Spec::new(program), visit).map(|seen| seen.end)))
            .collect();
        visits
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect()
    });
    let all_there = ends.iter().all(|end| matches!(end, Ok(Ok(End::Stopped))));
    let seen = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    if !all_there {
        return Err(TrialError::Verification(format!(
            "{} did not reach its entry in every copy",
            program.display()
        )));
    }
    Ok(seen)
}

//! One trial, as the benchmark sees it: the case's values, and [`Trial::collect`], which calibrates, repeats,
//! counts, verifies and judges.
//!
//! A sample is one call of the benchmark's closure. Around it the kernel reads the process's and the system's
//! counters; within it there are only the benchmark's own two readings of the clock. A sample during which
//! somebody else held our processor is repeated, within a bound; what stays contaminated is reported so, with the
//! reason. No sample is judged by its own time.

use os::clock::Clock;
use os::counters::{ProcessCounters, SystemCounters, Throttling};
use record::model::Point;
use stats::summary::median;
use thiserror::Error;

use crate::protocol::{Job, TrialReport};
use crate::timed::Calibration;

/// However long they take, so many samples are taken before contaminated ones are accepted.
const MIN_REPEATS: usize = 6;
/// Never more samples than this in one trial.
const MAX_SAMPLES: usize = 2_000;
/// A sample is repeated when its threads waited longer than this share of their time for a processor, although
/// there was one for each.
const WAIT_SHARE: f64 = 0.05;
/// A trial is flagged when other programs used more than this share of the machine.
const FOREIGN_SHARE: f64 = 0.10;
/// A trial is flagged when the hypervisor took more than this share.
const STEAL_SHARE: f64 = 0.02;
/// A trial is flagged when the empty loop's cost moved by more than this factor: the clock frequency drifted.
const DRIFT: f64 = 1.25;
/// Said of a trial whose control group ran out of processor time.
const THROTTLED: &str =
    "its control group's processor quota ran out (cpu.max); give it more or leave the group";
/// Shares of the whole machine come from counters that move in ticks: shorter trials are not judged by them.
const SHORTEST_JUDGED_NS: f64 = 100e6;

/// Why a trial has no result.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The case lacks a parameter that the benchmark needs, or has a value that it cannot use.
    #[error("use the case: {0}")]
    Case(String),
    /// The work did not do what it should.
    #[error("verify the work: {0}")]
    Verification(String),
    /// The system refused something.
    #[error("{0}: {1}")]
    System(String, #[source] std::io::Error),
    /// One operation took less time than is physically possible: the compiler deleted the work.
    #[error("believe {ns} ns per operation: less than the floor of {floor} ns, so the work was not done")]
    TooFast {
        /// Measured.
        ns: f64,
        /// The benchmark's floor.
        floor: f64,
    },
}

/// What one sample did.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Wall time of the sample in nanoseconds.
    pub elapsed_ns: f64,
    /// Threads that worked.
    pub threads: u64,
    /// Operations of all threads together.
    pub operations: u64,
    /// Operations that were verified; must equal `operations`.
    pub verified: u64,
    /// Time that the sample's threads waited for a processor, in nanoseconds, where it can be told.
    pub waited_ns: Option<u64>,
}

/// How much work a sample does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// As much as lasts about as long as the job says.
    Calibrated {
        /// Never more operations a thread than this.
        max: u64,
    },
    /// Exactly this many operations a thread.
    Fixed(u64),
}

/// The trial that is being run.
#[derive(Debug)]
pub struct Trial {
    job: Job,
    clock: Clock,
    floor_ns: f64,
    baseline_rss: u64,
    report: TrialReport,
}

impl Trial {
    /// Prepares a trial; `floor_ns` is the benchmark's own.
    ///
    /// # Errors
    /// When the process's counters cannot be read.
    pub fn new(job: Job, floor_ns: f64) -> Result<Self, TrialError> {
        let counters = read_process()?;
        Ok(Self {
            job,
            clock: Clock::choose(),
            floor_ns,
            baseline_rss: counters.current_rss_bytes,
            report: TrialReport::default(),
        })
    }

    /// The clock that times samples.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The seed of everything random in this trial.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.job.seed
    }

    /// The processors that the trial may use.
    #[must_use]
    pub fn cpus(&self) -> &[usize] {
        &self.job.cpus
    }

    /// How long the timed part may last, in nanoseconds.
    #[must_use]
    pub fn budget_ns(&self) -> u64 {
        self.job.budget_ns
    }

    /// The subject under test.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.job.case.subject
    }

    /// A parameter as text.
    ///
    /// # Errors
    /// [`TrialError::Case`] when the case lacks it.
    pub fn text(&self, name: &str) -> Result<&str, TrialError> {
        self.job
            .case
            .parameter(name)
            .ok_or_else(|| TrialError::Case(format!("it has no parameter {name}")))
    }

    /// A parameter as a number.
    ///
    /// # Errors
    /// [`TrialError::Case`] when the case lacks it or it is none.
    pub fn number(&self, name: &str) -> Result<u64, TrialError> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| TrialError::Case(format!("{name}={text} is not a number")))
    }

    /// The amount of work that a parameter with the word `auto` asks for.
    ///
    /// # Errors
    /// [`TrialError::Case`] when the case lacks it or it is neither a number nor `auto`.
    pub fn amount(&self, name: &str) -> Result<Amount, TrialError> {
        if self.text(name)? == "auto" {
            return Ok(Amount::Calibrated { max: 1 << 40 });
        }
        self.number(name).map(Amount::Fixed)
    }

    /// Records one metric where the platform can tell it.
    fn known(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    /// Records the median of what the samples showed, if they showed anything.
    pub fn median(&mut self, name: &str, values: &[f64]) {
        self.known(name, median(values));
    }

    /// Records one metric.
    pub fn value(&mut self, name: &str, value: f64) {
        self.report.values.push((name.to_owned(), value));
    }

    /// Peak resident memory of this process above what it had before the benchmark began, in bytes.
    ///
    /// # Errors
    /// When the counters cannot be read.
    pub fn peak_growth_bytes(&self) -> Result<u64, TrialError> {
        Ok(read_process()?.peak_rss_bytes.saturating_sub(self.baseline_rss))
    }

    /// Takes samples until the job's budget is spent, and records the metrics that every benchmark has.
    ///
    /// `run` does so many operations a thread and tells what it did; `empty_ns` does the loop without the work and
    /// returns nanoseconds a turn, which is subtracted (times the number of threads that share a processor).
    ///
    /// # Errors
    /// The first error of `run`, and [`TrialError::Verification`] when a sample did not do its work.
    pub fn collect(
        &mut self,
        amount: Amount,
        mut run: impl FnMut(u64) -> Result<Sample, TrialError>,
        mut empty_ns: impl FnMut() -> f64,
    ) -> Result<(), TrialError> {
        let mut run = |operations| verify(run(operations)?);
        let operations = match amount {
            Amount::Fixed(operations) => operations,
            Amount::Calibrated { max } => {
                let target_ns = self.job.sample_ns.max(1) as f64;
                Calibration {
                    target_ns,
                    max_operations: max.max(1),
                }
                .find(|operations| run(operations).map(|sample| sample.elapsed_ns))?
            }
        };
        let mut samples = Samples::default();
        let system_before = SystemCounters::read().ok();
        let throttled_before = Throttling::read().ok();
        let before = read_process()?;
        let start = self.clock.now();
        let mut inner = before;
        let mut inner_system = system_before;
        loop {
            let empty = empty_ns();
            let begin = self.clock.now();
            let sample = run(operations)?;
            let end = self.clock.now();
            let after = read_process()?;
            let after_system = SystemCounters::read().ok();
            let wall = self.clock.ns(begin, end);
            samples.points.push(point(
                self.clock.ns(start, end),
                wall,
                (&inner, &after),
                inner_system
                    .zip(after_system)
                    .and_then(|(a, b)| b.since(&a).context_switches),
            ));
            samples.push(sample, empty, self.sharing(sample.threads));
            inner = after;
            inner_system = after_system;
            let spent = self.clock.ns(start, self.clock.now());
            // Contaminated samples are repeated within a bound: twice the budget, or six samples if those take longer.
            let enough = samples.clean >= 3 && spent >= self.job.budget_ns as f64;
            let over = spent >= 2.0 * self.job.budget_ns as f64 && samples.all.len() >= MIN_REPEATS;
            if enough || over || samples.all.len() >= MAX_SAMPLES {
                break;
            }
        }
        let elapsed_ns = self.clock.ns(start, self.clock.now());
        let system = system_before.zip(SystemCounters::read().ok());
        let throttled = throttled_before
            .zip(Throttling::read().ok())
            .map(|(a, b)| b.since(&a));
        self.conclude(
            &samples,
            elapsed_ns,
            (&before, &read_process()?),
            system,
            throttled,
        )
    }

    /// How many threads share one processor, at least one.
    fn sharing(&self, threads: u64) -> f64 {
        let cpus = match self.job.cpus.len() {
            0 => os::topology::allowed().map_or(1, |cpus| cpus.len()),
            given => given,
        };
        (threads as f64 / cpus.max(1) as f64).max(1.0)
    }

    fn conclude(
        &mut self,
        samples: &Samples,
        elapsed_ns: f64,
        (before, after): (&ProcessCounters, &ProcessCounters),
        system: Option<(SystemCounters, SystemCounters)>,
        throttled: Option<Throttling>,
    ) -> Result<(), TrialError> {
        let chosen = samples.chosen();
        let Some(ns_per_op) = median(&chosen) else {
            return Err(TrialError::Verification("no sample did any operation".to_owned()));
        };
        if ns_per_op < self.floor_ns {
            return Err(TrialError::TooFast {
                ns: ns_per_op,
                floor: self.floor_ns,
            });
        }
        let busy_ns = samples.elapsed_ns.max(1.0);
        let operations = samples.operations.max(1) as f64;
        let spent = after.since(before);
        let per_s = |count: Option<u64>| count.map(|count| count as f64 * 1e9 / elapsed_ns);
        self.value("ns_per_op", ns_per_op);
        self.value("ops_per_s", operations * 1e9 / busy_ns);
        self.value("cpu_ns_per_op", spent.cpu_ns as f64 / operations);
        self.known("context_switches_per_s", per_s(spent.context_switches));
        self.known("voluntary_switches_per_s", per_s(spent.voluntary));
        self.known("involuntary_switches_per_s", per_s(spent.involuntary));
        let whole = system.as_ref().map(|(a, b)| b.since(a));
        self.known(
            "system_switches_per_s",
            per_s(whole.and_then(|whole| whole.context_switches)),
        );
        // Waiting threads per second of wall time: 1 means that on average one thread waited all the time.
        self.known(
            "runqueue_wait_ratio",
            samples.waited_ns.map(|waited| waited as f64 / busy_ns),
        );
        self.known("minor_faults_per_s", per_s(spent.minor_faults));
        self.known("major_faults", spent.major_faults.map(|faults| faults as f64));
        self.value(
            "peak_rss_bytes",
            after.peak_rss_bytes.saturating_sub(self.baseline_rss) as f64,
        );
        self.value("empty_loop_ns", median(&samples.empty).unwrap_or(0.0));
        self.report.samples.extend(chosen);
        self.report.course.extend(&samples.points);
        self.report.contaminated = samples
            .reason()
            .or_else(|| {
                throttled
                    .filter(|t| t.throttled_periods > 0)
                    .map(|_| THROTTLED.to_owned())
            })
            .or_else(|| {
                let own_cpu_ns = spent.cpu_ns + spent.children_cpu_ns.unwrap_or(0);
                foreign(elapsed_ns, own_cpu_ns, whole?)
            });
        Ok(())
    }

    /// The report, when the benchmark is done.
    #[must_use]
    pub fn finish(self) -> TrialReport {
        self.report
    }
}

fn read_process() -> Result<ProcessCounters, TrialError> {
    ProcessCounters::read()
        .map_err(|error| TrialError::System("read the process's counters".to_owned(), error))
}

fn verify(sample: Sample) -> Result<Sample, TrialError> {
    if sample.verified == sample.operations {
        return Ok(sample);
    }
    Err(TrialError::Verification(format!(
        "{} operations were asked for and {} done",
        sample.operations, sample.verified
    )))
}

fn point(
    at_ns: f64,
    wall_ns: f64,
    (a, b): (&ProcessCounters, &ProcessCounters),
    system: Option<u64>,
) -> Point {
    let per_s = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64 * 1e9 / wall_ns.max(1.0));
    let spent = b.since(a);
    Point {
        at_ns,
        voluntary_per_s: per_s(spent.voluntary),
        involuntary_per_s: per_s(spent.involuntary),
        system_per_s: per_s(system),
    }
}

/// The samples of a trial.
#[derive(Debug, Default)]
struct Samples {
    /// Nanoseconds per operation of one thread, and whether the sample was clean.
    all: Vec<(f64, bool)>,
    empty: Vec<f64>,
    points: Vec<Point>,
    clean: usize,
    elapsed_ns: f64,
    operations: u64,
    waited_ns: Option<u64>,
}

impl Samples {
    fn push(&mut self, sample: Sample, empty_ns: f64, sharing: f64) {
        let thread_ns = sample.elapsed_ns * sample.threads as f64;
        let clean = sharing > 1.0
            || sample
                .waited_ns
                .is_none_or(|waited| waited as f64 <= WAIT_SHARE * thread_ns);
        self.clean += usize::from(clean);
        self.empty.push(empty_ns);
        self.elapsed_ns += sample.elapsed_ns;
        self.operations += sample.operations;
        if let Some(waited) = sample.waited_ns {
            *self.waited_ns.get_or_insert(0) += waited;
        }
        if sample.operations > 0 {
            self.all
                .push((thread_ns / sample.operations as f64 - empty_ns * sharing, clean));
        }
    }

    /// The clean samples, or all when fewer than three are clean.
    fn chosen(&self) -> Vec<f64> {
        let clean_enough = self.clean >= 3.min(self.all.len());
        self.all
            .iter()
            .filter(|(_, clean)| *clean || !clean_enough)
            .map(|(ns, _)| *ns)
            .collect()
    }

    fn reason(&self) -> Option<String> {
        if self.clean < 3.min(self.all.len()) {
            let share = 100.0 * (1.0 - self.clean as f64 / self.all.len() as f64);
            return Some(format!(
                "in {share:.0} % of the samples other programs held its processors"
            ));
        }
        let smallest = self.empty.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = median(&self.empty)?;
        (smallest > 0.05 && middle > DRIFT * smallest).then(|| {
            format!("the empty loop took {middle:.2} ns and at best {smallest:.2} ns: the clock rate drifted")
        })
    }
}

/// Whether the machine as a whole was somebody else's.
fn foreign(elapsed_ns: f64, own_cpu_ns: u64, whole: SystemCounters) -> Option<String> {
    if elapsed_ns < SHORTEST_JUDGED_NS {
        return None;
    }
    let online = os::topology::online().map_or(1, |cpus| cpus.len());
    let share = |ns: f64| ns / (elapsed_ns * online.max(1) as f64);
    let steal = share(whole.cpu_steal_ns? as f64);
    if steal > STEAL_SHARE {
        return Some(format!(
            "the hypervisor took {:.0} % of the processors' time",
            100.0 * steal
        ));
    }
    let others = share(whole.cpu_busy_ns? as f64 - own_cpu_ns as f64);
    (others > FOREIGN_SHARE).then(|| {
        format!(
            "other programs used {:.0} % of the processors' time",
            100.0 * others
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(budget_ns: u64, floor_ns: f64) -> Trial {
        let case = "heap/fake/threads=2,count=auto,size=7@system".parse().unwrap();
        Trial::new(
            Job {
                case,
                seed: 1,
                budget_ns,
                sample_ns: 100_000,
                cpus: vec![],
            },
            floor_ns,
        )
        .unwrap()
    }

    fn sample(elapsed_ns: f64, operations: u64, waited_ns: u64) -> Sample {
        Sample {
            elapsed_ns,
            threads: 1,
            operations,
            verified: operations,
            waited_ns: Some(waited_ns),
        }
    }

    #[test]
    fn the_empty_loop_is_subtracted_and_the_median_reported() {
        let mut trial = trial(1_000_000, 0.0);
        trial
            .collect(Amount::Fixed(1000), |n| Ok(sample(15.0 * n as f64, n, 0)), || 0.5)
            .unwrap();
        let report = trial.finish();
        assert!((report.value("ns_per_op").unwrap() - 14.5).abs() < 1e-9);
        assert!((report.value("ops_per_s").unwrap() - 1e9 / 15.0).abs() < 1.0);
        assert!(report.samples.len() >= 3 && report.course.len() >= 3);
    }

    #[test]
    fn work_that_was_not_done_is_an_error() {
        let undone = |n| {
            Ok(Sample {
                verified: n - 1,
                ..sample(1e5, n, 0)
            })
        };
        let error = trial(1_000, 0.0)
            .collect(Amount::Fixed(10), undone, || 0.0)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "verify the work: 10 operations were asked for and 9 done"
        );
    }

    #[test]
    fn deleted_work_is_an_error() {
        let error = trial(1_000, 1.0)
            .collect(Amount::Fixed(1000), |n| Ok(sample(5.0, n, 0)), || 0.0)
            .unwrap_err();
        assert!(matches!(error, TrialError::TooFast { .. }), "{error}");
    }

    #[test]
    fn a_sample_that_waited_for_its_processor_is_repeated() {
        let mut turn = 0;
        let mut trial = trial(1_000_000, 0.0);
        let run = |n| {
            turn += 1;
            // Every second sample is twice as slow and waited half of its time.
            let (elapsed, waited) = if turn % 2 == 0 { (20.0, 10) } else { (10.0, 0) };
            Ok(sample(elapsed * n as f64, n, waited * n))
        };
        trial.collect(Amount::Fixed(1000), run, || 0.0).unwrap();
        let report = trial.finish();
        assert!(
            report.samples.iter().all(|&ns| ns == 10.0),
            "{:?}",
            report.samples
        );
    }

    #[test]
    fn what_stays_contaminated_is_kept_and_said() {
        let mut trial = trial(100_000, 0.0);
        trial
            .collect(
                Amount::Fixed(1000),
                |n| Ok(sample(10.0 * n as f64, n, 9 * n)),
                || 0.0,
            )
            .unwrap();
        let report = trial.finish();
        assert!(!report.samples.is_empty());
        assert!(report.contaminated.unwrap().contains("100 % of the samples"));
    }

    #[test]
    fn parameters_are_read_from_the_case() {
        let trial = trial(1, 0.0);
        assert_eq!(trial.number("size").unwrap(), 7);
        assert_eq!(
            trial.amount("count").unwrap(),
            Amount::Calibrated { max: 1 << 40 }
        );
        assert_eq!(trial.amount("size").unwrap(), Amount::Fixed(7));
        assert!(
            trial
                .number("absent")
                .unwrap_err()
                .to_string()
                .contains("no parameter absent")
        );
    }
}

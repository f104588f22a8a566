//! What the main program and the worker say to one another: a job on the command line, a report on standard
//! output. Plain lines, so that a person can run a worker by hand and the worker needs no parser of JSON.
//!
//! ```text
//! underhood-worker $'case=heap/heaptest/threads=2,…@system\nseed=1\nbudget_ns=100000000\ncpus=0,1'
//! underhood-trial 1
//! sample 14.2
//! value ns_per_op 14.2
//! point 20000000 12 3 480
//! end
//! ```
//!
//! A report without its last line `end` is a trial that died, whatever came before.

use record::model::{Case, Point};
use thiserror::Error;

const GREETING: &str = "underhood-trial 1";

/// What one trial is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The case.
    pub case: Case,
    /// Seed of everything random in the trial.
    pub seed: u64,
    /// How long the timed part may last, in nanoseconds; a fixed amount of work may take longer.
    pub budget_ns: u64,
    /// How long one sample should last, in nanoseconds, where the benchmark lets the kernel choose.
    pub sample_ns: u64,
    /// The processors that the trial may use; empty for all.
    pub cpus: Vec<usize>,
}

/// What one trial found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialReport {
    /// Nanoseconds per operation of one thread, one value a sample.
    pub samples: Vec<f64>,
    /// One value of each metric.
    pub values: Vec<(String, f64)>,
    /// Counters over time.
    pub course: Vec<Point>,
    /// Why the trial is to be read with care.
    pub contaminated: Option<String>,
}

/// Why a text is no job or no report.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The worker said what went wrong.
    #[error("run the trial: {0}")]
    Failed(String),
    /// The report has no end: the worker died.
    #[error("read the trial's report: it stops after {0} lines, so the worker ended early")]
    Cut(usize),
    /// A line that means nothing.
    #[error("read line {line} of the {what}: {text:?}")]
    Line {
        /// `job` or `report`.
        what: &'static str,
        /// Line number from 1.
        line: usize,
        /// The line, cut to 80 characters.
        text: String,
    },
}

impl Job {
    /// The job as the worker's one argument.
    #[must_use]
    pub fn encode(&self) -> String {
        let cpus = self
            .cpus
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",");
        format!(
            "case={}\nseed={}\nbudget_ns={}\nsample_ns={}\ncpus={cpus}",
            self.case, self.seed, self.budget_ns, self.sample_ns
        )
    }

    /// Reads what [`Job::encode`] wrote.
    ///
    /// # Errors
    /// [`ProtocolError::Line`] for the first line that is not understood.
    pub fn decode(text: &str) -> Result<Self, ProtocolError> {
        let mut case = None;
        let (mut seed, mut budget_ns, mut sample_ns, mut cpus) = (0, 0, 0, Vec::new());
        for (index, line) in text.lines().enumerate() {
            let wrong = || bad_line("job", index, line);
            let (key, value) = line.split_once('=').ok_or_else(wrong)?;
            let number = || value.parse::<u64>().map_err(|_| wrong());
            match key {
                "case" => case = Some(value.parse::<Case>().map_err(|_| wrong())?),
                "seed" => seed = number()?,
                "budget_ns" => budget_ns = number()?,
                "sample_ns" => sample_ns = number()?,
                "cpus" => {
                    cpus = value
                        .split(',')
                        .filter(|item| !item.is_empty())
                        .map(|item| item.parse().map_err(|_| wrong()))
                        .collect::<Result<_, _>>()?;
                }
                _ => return Err(wrong()),
            }
        }
        let case = case.ok_or_else(|| bad_line("job", 0, "no case"))?;
        Ok(Self {
            case,
            seed,
            budget_ns,
            sample_ns,
            cpus,
        })
    }
}

fn bad_line(what: &'static str, index: usize, line: &str) -> ProtocolError {
    ProtocolError::Line {
        what,
        line: index + 1,
        text: line.chars().take(80).collect(),
    }
}

impl TrialReport {
    /// One metric's value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// The report as the worker prints it.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = format!("{GREETING}\n");
        for sample in &self.samples {
            text.push_str(&format!("sample {sample}\n"));
        }
        for (name, value) in &self.values {
            text.push_str(&format!("value {name} {value}\n"));
        }
        for point in &self.course {
            let Point {
                at_ns,
                voluntary_per_s,
                involuntary_per_s,
                system_per_s,
            } = point;
            text.push_str(&format!(
                "point {at_ns} {voluntary_per_s} {involuntary_per_s} {system_per_s}\n"
            ));
        }
        if let Some(reason) = &self.contaminated {
            text.push_str(&format!("contaminated {}\n", one_line(reason)));
        }
        text.push_str("end\n");
        text
    }

    /// What the worker prints when the trial failed.
    #[must_use]
    pub fn encode_failure(reason: &str) -> String {
        format!("{GREETING}\nfailed {}\nend\n", one_line(reason))
    }

    /// Reads what a worker printed.
    ///
    /// # Errors
    /// [`ProtocolError`]: the worker's own reason, or that the report is cut or malformed.
    pub fn decode(text: &str) -> Result<Self, ProtocolError> {
        let mut report = Self::default();
        let mut lines = 0;
        for (index, line) in text.lines().enumerate() {
            lines = index + 1;
            let wrong = || bad_line("report", index, line);
            if index == 0 {
                if line != GREETING {
                    return Err(wrong());
                }
                continue;
            }
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            let numbers = |text: &str| -> Result<Vec<f64>, ProtocolError> {
                text.split(' ')
                    .map(|item| item.parse().map_err(|_| wrong()))
                    .collect()
            };
            match key {
                "end" => return Ok(report),
                "failed" => return Err(ProtocolError::Failed(rest.to_owned())),
                "contaminated" => report.contaminated = Some(rest.to_owned()),
                "sample" => report.samples.extend(numbers(rest)?),
                "value" => {
                    let (name, value) = rest.split_once(' ').ok_or_else(wrong)?;
                    report
                        .values
                        .push((name.to_owned(), value.parse().map_err(|_| wrong())?));
                }
                "point" => match numbers(rest)?[..] {
                    [at_ns, voluntary_per_s, involuntary_per_s, system_per_s] => {
                        report.course.push(Point {
                            at_ns,
                            voluntary_per_s,
                            involuntary_per_s,
                            system_per_s,
                        });
                    }
                    _ => return Err(wrong()),
                },
                _ => return Err(wrong()),
            }
        }
        Err(ProtocolError::Cut(lines))
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job() -> Job {
        Job {
            case: "heap/heaptest/threads=2,max_size=2048@glibc.malloc.arena_max=1"
                .parse()
                .unwrap(),
            seed: u64::MAX,
            budget_ns: 100,
            sample_ns: 20,
            cpus: vec![0, 3],
        }
    }

    #[test]
    fn a_job_survives_the_round_trip() {
        assert_eq!(Job::decode(&job().encode()).unwrap(), job());
        let everywhere = Job {
            cpus: Vec::new(),
            ..job()
        };
        assert_eq!(Job::decode(&everywhere.encode()).unwrap(), everywhere);
    }

    #[test]
    fn a_report_survives_the_round_trip() {
        let report = TrialReport {
            samples: vec![14.25, 0.1 + 0.2, 1e-300],
            values: vec![("ns_per_op".into(), 14.25)],
            course: vec![Point {
                at_ns: 1.5,
                voluntary_per_s: 2.0,
                involuntary_per_s: 0.0,
                system_per_s: 9e9,
            }],
            contaminated: Some("other programs\nused 40 %".into()),
        };
        let back = TrialReport::decode(&report.encode()).unwrap();
        assert_eq!(back.samples, report.samples);
        assert_eq!(back.course, report.course);
        assert_eq!(back.contaminated.as_deref(), Some("other programs used 40 %"));
    }

    #[test]
    fn a_dead_worker_is_noticed() {
        let text = TrialReport::default().encode();
        let cut = text.strip_suffix("end\n").unwrap();
        assert_eq!(TrialReport::decode(cut), Err(ProtocolError::Cut(1)));
        assert_eq!(TrialReport::decode(""), Err(ProtocolError::Cut(0)));
        let failed = TrialReport::encode_failure("no\nmemory");
        assert_eq!(
            TrialReport::decode(&failed),
            Err(ProtocolError::Failed("no memory".into()))
        );
    }

    proptest! {
        #[test]
        fn hostile_reports_are_answered(text in "(underhood-trial 1\n)?([a-z]{3,6} [0-9a-zNif. -]{0,12}\n){0,6}") {
            let _ = TrialReport::decode(&text);
            let _ = Job::decode(&text);
        }
    }
}

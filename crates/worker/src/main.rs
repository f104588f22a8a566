//! The small program that runs one trial: reads a job from its one argument, runs the benchmark, prints the report.
//!
//! It is a program of its own so that nothing else is in the process: no command line, no database, no heap of ours, one
//! thread until the benchmark starts more. Its memory before the benchmark is read first and subtracted.

use std::io::Write;
use std::process::ExitCode;

use measure::protocol::{Job, TrialReport};
use measure::trial::Trial;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(text), None) = (arguments.next(), arguments.next()) else {
        return answer(
            &TrialReport::encode_failure("start with exactly one argument, a job; underhood does that"),
            2,
        );
    };
    match run(&text) {
        Ok(report) => answer(&report.encode(), 0),
        Err(reason) => answer(&TrialReport::encode_failure(&reason), 1),
    }
}

fn run(text: &str) -> Result<TrialReport, String> {
    let job = Job::decode(text).map_err(|error| error.to_string())?;
    let benchmark = suites::find(&job.case.suite, &job.case.benchmark)
        .ok_or_else(|| format!("find the benchmark {}", job.case.full_benchmark()))?;
    // Without this the kernel shares processors between sessions, and whatever else runs takes half of them.
    // Where it may not be done, the guards of the trial see the consequences.
    let _ = os::thread::leave_autogroup();
    if !job.cpus.is_empty() {
        let cpus = job.cpus.iter().copied().collect();
        os::thread::pin_current(&cpus)
            .map_err(|error| format!("use the processors {:?}: {error}", job.cpus))?;
    }
    let mut trial = Trial::new(job, benchmark.info().floor_ns).map_err(|error| error.to_string())?;
    benchmark.run(&mut trial).map_err(|error| error.to_string())?;
    Ok(trial.finish())
}

fn answer(text: &str, code: u8) -> ExitCode {
    // Nobody to tell when standard output is gone: the report's missing end tells it.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    ExitCode::from(code)
}

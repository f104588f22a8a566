//! The trial runner that starts the worker program.

use std::path::PathBuf;
use std::time::Duration;

use os::process::{LaunchError, Launcher, Sink, Spec};

use crate::protocol::TrialReport;
use crate::schedule::{RunTrialError, TrialRunner, TrialSpec};

/// A report longer than this is no report.
const MAX_REPORT: u64 = 16 << 20;

/// Starts one fresh worker for each trial.
pub struct WorkerRunner {
    launcher: Launcher,
    worker: PathBuf,
}

impl WorkerRunner {
    /// A runner that starts this worker program.
    #[must_use]
    pub fn new(launcher: Launcher, worker: PathBuf) -> Self {
        Self { launcher, worker }
    }
}

impl TrialRunner for WorkerRunner {
    fn run(&mut self, spec: &TrialSpec<'_>) -> Result<TrialReport, RunTrialError> {
        let failed = |what: String| RunTrialError::Failed(what);
        let report =
            os::memory::capped_file(MAX_REPORT).map_err(|e| failed(format!("keep the report: {e}")))?;
        let errors =
            os::memory::capped_file(MAX_REPORT).map_err(|e| failed(format!("keep the errors: {e}")))?;
        let duplicate = |file: &std::fs::File| {
            file.try_clone()
                .map_err(|e| failed(format!("keep the report: {e}")))
        };
        let mut process = Spec::new(self.worker.clone()).args([spec.job.encode()]);
        for (name, value) in &spec.planned.environment {
            process.env.retain(|(key, _)| key.to_str() != Some(name));
            process.env.push((name.into(), value.into()));
        }
        process.env.push((
            crate::command::launch::PADDING.into(),
            "x".repeat(spec.padding).into(),
        ));
        process.stdout = Sink::File(duplicate(&report)?);
        process.stderr = Sink::File(duplicate(&errors)?);
        // Calibration, preparation and repeats take a multiple of the timed part; a fixed amount of work takes what
        // it takes, but not for ever.
        process.timeout = Some(Duration::from_secs(600) + 20 * Duration::from_nanos(spec.job.budget_ns));
        let outcome = match self.launcher.run(&process) {
            Ok(outcome) => outcome,
            Err(LaunchError::Interrupted) => return Err(RunTrialError::Interrupted),
            Err(error) => return Err(failed(format!("start the worker: {error}"))),
        };
        let text = read(report).map_err(|e| failed(format!("read the report: {e}")))?;
        TrialReport::decode(&text).map_err(|error| {
            let said = read(errors).unwrap_or_default();
            let said = said
                .lines()
                .next()
                .map(|line| format!("; it said: {line}"))
                .unwrap_or_default();
            failed(format!("{error} ({}){said}", ending(outcome.end)))
        })
    }
}

fn ending(end: os::process::End) -> String {
    match end {
        os::process::End::Exited(code) => format!("the worker exited with status {code}"),
        os::process::End::Signaled { signal, .. } => format!("the worker was ended by signal {signal}"),
        os::process::End::TimedOut | os::process::End::Stopped => "the worker did not end in time".to_owned(),
    }
}

fn read(mut file: std::fs::File) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let length = os::memory::written_len(&file)?;
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

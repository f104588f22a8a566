//! The arm runner that starts real processes, and checks what each of them did.
//!
//! A run whose exit status or output is not what the first run showed is a failure of its arm, not a slow or fast
//! run: a remedy that breaks the program must not win by doing less.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use os::process::{LaunchError, Launcher, Sink, Spec, Stdin, Usage};
use record::model::{CommandMetric, End, Entry};
use sha2::{Digest, Sha256};

use super::block::{ArmRunner, Stop};
use super::visit::{self, Goal};

/// The name of the variable that pads the environment.
pub const PADDING: &str = "UNDERHOOD_PADDING";

/// Below this much processor time the kernel's split into user and system is a matter of ticks.
const SPLIT_FROM_NS: u64 = 100_000_000;

/// A command, ready to be started again and again.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name in tables.
    pub name: String,
    /// The program; searched for in PATH when it has no slash.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Changes to our own environment: a value, or `None` to take the variable away.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Its standard input, from the start for every run.
    pub stdin: Stdin,
    /// The processors that it may use; `None` for all.
    pub cpus: Option<Vec<usize>>,
    /// After this time the whole tree is ended.
    pub timeout: Option<Duration>,
    /// What every run must do.
    pub expectation: Expectation,
    /// To what it is timed.
    pub goal: Goal,
    /// Files that are put out of the page cache before each run, where the system allows it.
    pub cold: Vec<PathBuf>,
}

/// What every run of a command must do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// How it must end; `None` for any way but a timeout.
    pub end: Option<End>,
    /// What it must write to standard output; `None` when that is not compared, and then it is thrown away.
    pub output: Option<Output>,
}

/// What a command wrote to standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Number of bytes.
    pub bytes: u64,
    /// Their SHA-256.
    pub hash: [u8; 32],
}

impl Command {
    /// A command with our environment, no input, no limits and no expectation, timed to its exit. Its words are its name.
    #[must_use]
    pub fn new(program: PathBuf, args: Vec<OsString>) -> Self {
        let mut words = vec![program.to_string_lossy().into_owned()];
        words.extend(args.iter().map(|word| word.to_string_lossy().into_owned()));
        Self {
            name: words.join(" "),
            program,
            args,
            environment: Vec::new(),
            stdin: Stdin::Null,
            cpus: None,
            timeout: None,
            expectation: Expectation::default(),
            goal: Goal::Exit,
            cold: Vec::new(),
        }
    }

    /// The specification of one run.
    #[must_use]
    pub fn spec(&self, padding: usize, stdout: Sink) -> Spec {
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| !self.environment.iter().any(|(changed, _)| changed == name))
            .collect();
        for (name, value) in &self.environment {
            if let Some(value) = value {
                env.push((name.clone(), value.clone()));
            }
        }
        if padding > 0 {
            env.push((PADDING.into(), "x".repeat(padding).into()));
        }
        Spec {
            env,
            stdin: self.stdin.clone(),
            stdout,
            cpus: self.cpus.clone(),
            timeout: self.timeout,
            ..Spec::new(self.program.clone()).args(self.args.clone())
        }
    }
}

/// Starts arms as processes.
pub struct ProcessRunner {
    launcher: Launcher,
    /// The arms by index.
    pub arms: Vec<Command>,
    /// Runs before every timed run, not timed.
    pub prepare: Option<Command>,
    start: Instant,
}

impl ProcessRunner {
    /// A runner for these arms.
    #[must_use]
    pub fn new(launcher: Launcher, arms: Vec<Command>, prepare: Option<Command>) -> Self {
        Self {
            launcher,
            arms,
            prepare,
            start: Instant::now(),
        }
    }

    /// The launcher, for runs outside of blocks.
    pub fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }
}

impl ArmRunner for ProcessRunner {
    fn run(&mut self, arm: usize, padding: usize) -> Result<Entry, Stop> {
        if let Some(prepare) = &self.prepare {
            let end = run_once(&mut self.launcher, prepare, 0, None)
                .map_err(|error| stop(arm, "--prepare", &error))?
                .end;
            if end != End::Exited(0) {
                return Err(failed(
                    arm,
                    "--prepare",
                    format!("the command before each run {}", describe(end)),
                ));
            }
        }
        let command = &self.arms[arm];
        for file in &command.cold {
            os::page_cache::evict(file).map_err(|error| {
                failed(
                    arm,
                    &command.name,
                    format!("put {} out of memory: {error}", file.display()),
                )
            })?;
        }
        if let Goal::Place {
            place,
            programs,
            metric,
        } = command.goal
        {
            return visit::run_once(command, padding, (place, programs, metric), arm)
                .map_err(|error| stop(arm, &command.name, &error))?
                .map_err(|reason| failed(arm, &command.name, reason));
        }
        let cap = command.expectation.output.as_ref().map(|output| output.bytes);
        let ran = run_once(&mut self.launcher, command, padding, cap)
            .map_err(|error| stop(arm, &command.name, &error))?;
        if let Some(reason) = broken(&command.expectation, &ran) {
            return Err(failed(arm, &command.name, reason));
        }
        Ok(entry(arm, ran.end, &ran.usage))
    }

    fn now_s(&mut self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// One run and what it wrote.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it cost.
    pub usage: Usage,
    /// What it wrote, when that was asked for; `Err` when it was more than the cap.
    pub output: Option<Result<Output, u64>>,
}

/// Runs a command once. With `expected_bytes` its output is kept in memory, up to a little more than that, and hashed.
///
/// # Errors
/// Those of [`Launcher::run`], and of the file in memory.
pub fn run_once(
    launcher: &mut Launcher,
    command: &Command,
    padding: usize,
    expected_bytes: Option<u64>,
) -> Result<Ran, LaunchError> {
    let capture = Capture::new(expected_bytes).map_err(LaunchError::Other)?;
    let outcome = launcher.run(&command.spec(padding, capture.sink().map_err(LaunchError::Other)?))?;
    let output = capture.output().map_err(LaunchError::Other)?;
    Ok(Ran {
        end: end_of(outcome.end),
        usage: outcome.usage,
        output,
    })
}

/// Where a command's output goes: into memory up to a little more than is expected, or nowhere.
#[derive(Debug)]
pub struct Capture {
    file: Option<(std::fs::File, u64)>,
}

impl Capture {
    /// Keeps output when so many bytes are expected; throws it away otherwise.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(expected_bytes: Option<u64>) -> io::Result<Self> {
        let open =
            |bytes: u64| Ok::<_, io::Error>((os::memory::capped_file(bytes.saturating_add(SLACK))?, bytes));
        Ok(Self {
            file: expected_bytes.map(open).transpose()?,
        })
    }

    /// What the command's standard output is to be.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn sink(&self) -> io::Result<Sink> {
        match &self.file {
            Some((file, _)) => Ok(Sink::File(file.try_clone()?)),
            None => Ok(Sink::Null),
        }
    }

    /// What the command wrote, when it is over: `Err` with a byte count when that was more than the cap.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn output(self) -> io::Result<Option<Result<Output, u64>>> {
        self.file
            .map(|(mut file, expected)| hash(&mut file, expected))
            .transpose()
    }
}

/// Room beyond the expected output, so that a longer one is seen to be longer.
const SLACK: u64 = 1 << 16;

fn hash(file: &mut std::fs::File, expected: u64) -> io::Result<Result<Output, u64>> {
    let bytes = os::memory::written_len(file)?;
    if bytes > expected.saturating_add(SLACK - 1) {
        return Ok(Err(bytes));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    io::copy(&mut file.take(bytes), &mut HashWriter(&mut hasher))?;
    Ok(Ok(Output {
        bytes,
        hash: hasher.finalize().into(),
    }))
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a run is not what it must be, if it is not.
#[must_use]
pub fn broken(expectation: &Expectation, ran: &Ran) -> Option<String> {
    if ran.end == End::TimedOut {
        return Some("it did not end in time and was ended (--timeout)".to_owned());
    }
    if let Some(expected) = expectation.end
        && expected != ran.end
    {
        let first = match expected {
            End::Exited(0) => String::new(),
            other => format!(" where the first run {}", describe(other)),
        };
        return Some(format!("it {}{first}", describe(ran.end)));
    }
    match (&expectation.output, &ran.output) {
        (Some(_), Some(Err(bytes))) => Some(format!(
            "it wrote {bytes} bytes and more, which is not the first run's output"
        )),
        (Some(expected), Some(Ok(output))) if expected != output => Some(format!(
            "its output differs from the first run's ({} bytes, then {} bytes)",
            expected.bytes, output.bytes
        )),
        _ => None,
    }
}

/// How a run ended, in words that follow "it".
#[must_use]
pub fn describe(end: End) -> String {
    match end {
        End::Exited(0) => "succeeded".to_owned(),
        End::Exited(code) => format!("exited with status {code}"),
        End::Signaled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut => "did not end in time".to_owned(),
        End::Stopped => "was ended where its timing ends".to_owned(),
    }
}

/// The end of a run, as it is recorded.
#[must_use]
pub fn end_of(end: os::process::End) -> End {
    match end {
        os::process::End::Exited(code) => End::Exited(code),
        os::process::End::Signaled { signal, .. } => End::Signaled(signal),
        os::process::End::TimedOut => End::TimedOut,
        os::process::End::Stopped => End::Stopped,
    }
}

fn stop(arm: usize, name: &str, error: &LaunchError) -> Stop {
    match error {
        LaunchError::Interrupted => Stop::Interrupted,
        other => failed(arm, name, other.to_string()),
    }
}

fn failed(arm: usize, name: &str, reason: String) -> Stop {
    Stop::Failed {
        arm,
        name: name.to_owned(),
        reason,
    }
}

fn entry(arm: usize, end: End, usage: &Usage) -> Entry {
    let us = |ns: u64| ns as f64 / 1e3;
    let count = |value: Option<u64>| value.map(|value| value as f64);
    let split = usage.cpu_ns.is_some_and(|cpu| cpu >= SPLIT_FROM_NS);
    let part = |value: Option<u64>| value.filter(|_| split).map(us);
    let switches = usage
        .voluntary
        .zip(usage.involuntary)
        .map(|(a, b)| (a + b) as f64);
    let running = usage
        .runqueue_wait_ns
        .map(|wait| us(usage.wall_ns.saturating_sub(wait)));
    let values = [
        (CommandMetric::ToExit, Some(us(usage.wall_ns))),
        (CommandMetric::Running, running),
        (CommandMetric::Cpu, usage.cpu_ns.map(us)),
        (CommandMetric::User, part(usage.user_ns)),
        (CommandMetric::System, part(usage.system_ns)),
        (CommandMetric::PeakRss, count(usage.peak_rss_bytes)),
        (CommandMetric::MinorFaults, count(usage.minor_faults)),
        (CommandMetric::MajorFaults, count(usage.major_faults)),
        (CommandMetric::ContextSwitches, switches),
        (CommandMetric::Voluntary, count(usage.voluntary)),
        (CommandMetric::Involuntary, count(usage.involuntary)),
    ];
    Entry {
        peak_rss_is_upper_bound: usage.peak_rss_is_upper_bound,
        strays: usage.strays,
        ..known(arm, end, values)
    }
}

/// An entry with those values that there are. Its position is the block's to say.
pub(super) fn known(
    arm: usize,
    end: End,
    values: impl IntoIterator<Item = (CommandMetric, Option<f64>)>,
) -> Entry {
    Entry {
        arm,
        position: 0,
        end,
        values: values
            .into_iter()
            .filter_map(|(metric, value)| Some((metric, value?)))
            .collect(),
        peak_rss_is_upper_bound: false,
        strays: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(end: End, output: Option<Result<Output, u64>>) -> Ran {
        Ran {
            end,
            usage: Usage::default(),
            output,
        }
    }

    #[test]
    fn another_status_or_output_is_a_failure() {
        let output = |bytes| Output { bytes, hash: [7; 32] };
        let expectation = Expectation {
            end: Some(End::Exited(0)),
            output: Some(output(3)),
        };
        assert_eq!(
            broken(&expectation, &ran(End::Exited(0), Some(Ok(output(3))))),
            None
        );
        let text = |ran| broken(&expectation, &ran).unwrap();
        assert!(text(ran(End::Exited(1), Some(Ok(output(3))))).ends_with("it exited with status 1"));
        assert!(text(ran(End::Signaled(11), None)).contains("signal 11"));
        assert!(text(ran(End::Exited(0), Some(Ok(output(4))))).contains("3 bytes, then 4 bytes"));
        assert!(text(ran(End::Exited(0), Some(Err(99)))).contains("99 bytes"));
        assert!(text(ran(End::TimedOut, None)).contains("--timeout"));
    }

    #[test]
    fn user_and_system_are_told_only_when_they_can_be() {
        let usage = Usage {
            cpu_ns: Some(50_000_000),
            user_ns: Some(40_000_000),
            ..Usage::default()
        };
        assert_eq!(entry(0, End::Exited(0), &usage).value(CommandMetric::User), None);
        let usage = Usage {
            cpu_ns: Some(200_000_000),
            user_ns: Some(150_000_000),
            ..usage
        };
        assert_eq!(
            entry(0, End::Exited(0), &usage).value(CommandMetric::User),
            Some(150_000.0)
        );
    }
}

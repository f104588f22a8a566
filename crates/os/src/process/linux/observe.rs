//! Runs a command once under ptrace, to see what it does rather than how fast.
//!
//! Reading /proc from outside comes too late for a program that lives a millisecond. So the command is
//! traced: the kernel stops each of its tasks when it makes another one, after an exec, and just before its
//! end, when its memory map still tells which libraries were loaded. Between those stops it runs freely.
//!
//! Tracing belongs to a thread, so one of our own does it ([`super::tracer`]), blocked in wait(2). The thread
//! that asked keeps the time: it signals the processes when they are to end, which wakes the other one.

use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::{End, LaunchError, Observation, Spec, Visit};
use super::guide::Guide;
use super::ptrace::{self, STAGE_TRACE, Start};
use super::tracer::{Live, News, Tracer};
use super::{block, failure, search, streams};
use crate::thread::CpuSet;
use crate::{Unsupported, signal};

/// How often the time and interrupts are looked at.
const TICK: Duration = Duration::from_millis(10);
/// How long SIGKILL is repeated before we give up on a process that is stuck in the kernel.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Runs a command to its end and tells what happened inside.
///
/// It is slowed down only where it makes processes or threads, or executes. A command that stops itself
/// (SIGSTOP) is continued. Time limit, grace, interrupts and strays are as in
/// [`Launcher::run`](super::Launcher::run).
///
/// # Errors
/// As there, and [`LaunchError::Unsupported`] where the system refuses to trace.
pub fn observe(spec: &Spec) -> Result<Observation, LaunchError> {
    follow(spec, None)
}

/// As [`observe`], and tells when the command itself reached a place in each program that it became. It may be ended
/// there, and then the observation says [`End::Stopped`].
///
/// Where `spec` names a single CPU, the tracing runs on it too: the time from one to the other is then not that of waking
/// another processor.
///
/// # Errors
/// As there, and [`LaunchError::Unsupported`] for a set-user-id program, which must not be traced.
pub fn visit(spec: &Spec, visit: Visit) -> Result<Observation, LaunchError> {
    follow(spec, Some(visit))
}

fn follow(spec: &Spec, visit: Option<Visit>) -> Result<Observation, LaunchError> {
    if signal::interrupted() {
        return Err(LaunchError::Interrupted);
    }
    let path = search::find(spec)?;
    let block = block::build(spec, &path)?;
    let [stdin, stdout, stderr, directory] = streams::open(spec)?;
    let mut command = Command::new(&path);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    Start::new(&block, directory).prepare(&mut command);

    let live = Live::default();
    let (sender, news) = mpsc::channel();
    let tracer = Tracer::new(live.clone(), sender, visit.map(Guide::new));
    let beside: Option<CpuSet> = match (visit, spec.cpus.as_deref()) {
        (Some(_), Some(&[cpu])) => Some([cpu].into_iter().collect()),
        _ => None,
    };
    // Not joined: should a process be stuck in the kernel, so is the thread that waits for it.
    thread::Builder::new()
        .name("observe".to_owned())
        .spawn(move || {
            if let Some(cpu) = beside {
                // A CPU that may not be used is reported by the start of the command.
                let _ = crate::thread::pin_current(&cpu);
            }
            tracer.run(command);
        })
        .map_err(LaunchError::NoMemory)?;
    keep_time(spec, &live, &news, |error| match ptrace::failure(&error) {
        _ if error.kind() == std::io::ErrorKind::Unsupported => {
            LaunchError::Unsupported(Unsupported::new(error.to_string()))
        }
        (STAGE_TRACE, _) => LaunchError::Unsupported(why_no_tracing()),
        (stage, errno) => failure::explain(spec, &path, &block, stage, errno),
    })
}

enum Phase {
    Running {
        until: Option<Instant>,
    },
    /// Asked to end, or left running by the command.
    Ending {
        until: Instant,
    },
    Killing {
        since: Instant,
    },
}

/// Waits for the tracer's result and ends the processes when their time has come.
fn keep_time(
    spec: &Spec,
    live: &Live,
    news: &Receiver<News>,
    explain: impl FnOnce(std::io::Error) -> LaunchError,
) -> Result<Observation, LaunchError> {
    let now = Instant::now();
    // A limit beyond what the clock can count is none.
    let mut phase = Phase::Running {
        until: spec.timeout.and_then(|limit| now.checked_add(limit)),
    };
    let (mut timed_out, mut interrupted, mut stopped) = (false, false, false);
    let mut settled = None;
    loop {
        let news = news.recv_timeout(TICK);
        let now = Instant::now();
        let left_some = match news {
            Ok(News::Finished(_)) if interrupted => return Err(LaunchError::Interrupted),
            Ok(News::Finished(Ok(mut observation))) => {
                if timed_out {
                    observation.end = End::TimedOut;
                } else if stopped {
                    observation.end = End::Stopped;
                    observation.strays = 0;
                }
                return Ok(observation);
            }
            Ok(News::Finished(Err(error))) => return Err(explain(error)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(LaunchError::Launcher(std::io::Error::other(
                    "the tracing thread failed",
                )));
            }
            Ok(News::CommandGone) => true,
            Ok(News::Arrived(settle)) => {
                settled = now.checked_add(settle);
                false
            }
            Ok(News::VisitOver) => {
                (stopped, phase) = (true, Phase::Killing { since: now });
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
        };
        if settled.is_some_and(|settled| now >= settled)
            && matches!(phase, Phase::Running { .. })
            && !left_some
        {
            (stopped, phase) = (true, Phase::Killing { since: now });
        }
        match phase {
            Phase::Running { until } => {
                timed_out = !left_some && until.is_some_and(|until| now >= until);
                interrupted = signal::interrupted();
                if left_some || timed_out || interrupted {
                    live.signal(libc::SIGTERM);
                    live.signal(libc::SIGCONT);
                    let end = now.checked_add(spec.grace).unwrap_or(now + GIVE_UP);
                    phase = Phase::Ending { until: end };
                }
            }
            Phase::Ending { until } if now >= until => phase = Phase::Killing { since: now },
            Phase::Ending { .. } => interrupted |= signal::interrupted(),
            Phase::Killing { since } if now >= since + GIVE_UP => {
                return Err(LaunchError::Stuck {
                    processes: live.count() as u64,
                });
            }
            Phase::Killing { .. } => live.signal(libc::SIGKILL),
        }
    }
}

/// Why the system refuses: ptrace(2) lists a security module's setting and a sandbox's filter.
pub fn why_no_tracing() -> Unsupported {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        scope @ ("2" | "3") => Unsupported::new(format!(
            "tracing is switched off here: kernel.yama.ptrace_scope is {scope}; an administrator can set it to 1{}",
            if scope == "3" { " and restart" } else { "" }
        )),
        _ => Unsupported::new(
            "the system refuses ptrace, as some containers do; run outside, or with the capability SYS_PTRACE",
        ),
    }
}

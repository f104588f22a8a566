//! Runs commands in jobs.
#![expect(
    unsafe_code,
    reason = "processes are awaited and asked for their exit code by raw calls"
)]

use std::ffi::OsString;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::path::Path;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Threading::{GetExitCodeProcess, INFINITE, WaitForMultipleObjects};

use super::super::{End, LaunchError, Outcome, Spec};
use super::create::{self, Prepared};
use super::job::Job;
use super::usage::{self, Sources};
use super::{failure, search};
use crate::Unsupported;
use crate::signal;

/// How long we wait for a terminated job to be empty.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Starts commands and accounts for them. See [`super::super`] for the contract.
#[derive(Debug)]
pub struct Launcher(());

/// How a wait for a process ended.
enum Woken {
    Ended,
    TimedOut,
    Interrupted,
}

impl Launcher {
    /// Nothing has to be started: the system keeps its accounts apart from ours. The path is ignored.
    ///
    /// # Errors
    /// None on this system.
    pub fn start(_launcher_exe: &Path) -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// See [`LaunchError`]; whatever it is, nothing of the command is left running.
    pub fn run(&mut self, spec: &Spec) -> Result<Outcome, LaunchError> {
        run(spec).map(|(outcome, ..)| outcome)
    }

    /// No command inherits anything of our size.
    #[must_use]
    pub const fn peak_rss_floor(&self) -> u64 {
        0
    }

    /// What this machine lets us do and count, and why not: asked by running the system's command interpreter once.
    #[must_use]
    pub fn support(&self) -> Vec<(&'static str, Result<(), Unsupported>)> {
        let mut probe = Spec::new("cmd").args(["/c", "exit"]);
        probe.env.extend([(OsString::from("PATH"), system_folder())]);
        let (born, sources) =
            run(&probe).map_or((false, Sources::default()), |(_, born, sources)| (born, sources));
        let answer = |yes: bool, why: &'static str| if yes { Ok(()) } else { Err(Unsupported::new(why)) };
        let never = |why: &'static str| Err(Unsupported::new(why));
        vec![
            (
                "job_at_creation",
                answer(
                    born,
                    "this system puts a process into its job only after making it",
                ),
            ),
            (
                "job_accounts",
                answer(
                    sources.job_accounts,
                    "jobs do not count CPU time here; children are not included",
                ),
            ),
            (
                "job_peak",
                answer(
                    sources.job_peak,
                    "jobs do not know their peak here; it is that of the first process",
                ),
            ),
            (
                "peak_rss",
                answer(
                    sources.peak,
                    "this system forgets the memory figures of a process when it ends",
                ),
            ),
            (
                "cycles",
                answer(
                    sources.cycles,
                    "processes do not count cycles here; CPU time is in clock ticks",
                ),
            ),
            (
                "cpu_time",
                answer(
                    sources.cpu,
                    "this system does not tell the CPU time of other processes (Wine answers with our own)",
                ),
            ),
            (
                "runqueue_wait",
                never("Windows does not tell how long a process waited for a CPU"),
            ),
            (
                "context_switches",
                never("Windows keeps no such count for a process that is gone"),
            ),
            (
                "major_faults",
                never("Windows does not tell faults with I/O from those without"),
            ),
        ]
    }
}

fn system_folder() -> OsString {
    let mut folder = std::env::var_os("SystemRoot").unwrap_or_else(|| "C:\\Windows".into());
    folder.push("\\System32");
    folder
}

/// Runs `spec`; with the outcome, whether it was born into its job, and which sources count.
fn run(spec: &Spec) -> Result<(Outcome, bool, Sources), LaunchError> {
    if signal::interrupted() {
        return Err(LaunchError::Interrupted);
    }
    let path = search::find(spec)?;
    failure::refuse_batch_file(spec, &path)?;
    let job = Job::new().map_err(LaunchError::Launcher)?;
    let mut prepared = Prepared::new(spec, &path)?;
    let begin = Instant::now();
    let command = create::create(&mut prepared, spec, &path, &job, 0)?;
    command.resume().map_err(LaunchError::Launcher)?;
    let process = command.process.as_handle();
    let woken = wait(process, spec.timeout)?;
    let mut wall = begin.elapsed();
    // The command's copies are its own; ours would keep a pipe open.
    drop(prepared);
    let strays = match woken {
        Woken::Ended => job
            .members()
            .into_iter()
            .filter(|&member| member != command.id)
            .count(),
        _ => 0,
    };
    if strays > 0 || !matches!(woken, Woken::Ended) {
        end_members(&job, command.id, spec.grace)?;
    }
    if !matches!(woken, Woken::Ended) {
        wall = begin.elapsed();
    }
    let (usage, sources) = usage::read(&job, process, wall);
    let end = match woken {
        Woken::Interrupted => return Err(LaunchError::Interrupted),
        Woken::TimedOut => End::TimedOut,
        Woken::Ended => decode(exit_code(process)?),
    };
    let usage = super::super::Usage {
        strays: u32::try_from(strays).unwrap_or(u32::MAX),
        ..usage
    };
    Ok((Outcome { end, usage }, command.born_in_job, sources))
}

/// Asks the members to end, then ends them.
pub fn end_members(job: &Job, group: u32, grace: Duration) -> Result<(), LaunchError> {
    // The one polite request there is: Ctrl-Break to the console group. Who has no console cannot be asked.
    // SAFETY: numbers only.
    let asked = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) } != 0;
    if asked && job.wait_empty(grace) {
        return Ok(());
    }
    job.terminate(1);
    if job.wait_empty(GIVE_UP) {
        return Ok(());
    }
    Err(LaunchError::Stuck {
        processes: job.members().len() as u64,
    })
}

fn wait(process: BorrowedHandle<'_>, timeout: Option<Duration>) -> Result<Woken, LaunchError> {
    let handles = [process.as_raw_handle(), signal::wake_handle()];
    // Without a handler installed there is no second handle.
    let count = if handles[1].is_null() { 1 } else { 2 };
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let milliseconds = end.map_or(INFINITE, |end| {
            // Rounded up, so as not to wake too early; the longest wait is repeated.
            let left = end
                .saturating_duration_since(Instant::now())
                .as_micros()
                .div_ceil(1000);
            u32::try_from(left).unwrap_or(u32::MAX).min(INFINITE - 1)
        });
        // SAFETY: the handles are open, as many as announced.
        match unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, milliseconds) } {
            WAIT_OBJECT_0 => return Ok(Woken::Ended),
            WAIT_TIMEOUT if end.is_none_or(|end| Instant::now() < end) => {}
            WAIT_TIMEOUT => return Ok(Woken::TimedOut),
            answer if answer == WAIT_OBJECT_0 + 1 => return Ok(Woken::Interrupted),
            _ => return Err(LaunchError::Launcher(io::Error::last_os_error())),
        }
    }
}

fn exit_code(process: BorrowedHandle<'_>) -> Result<u32, LaunchError> {
    let mut code = 0;
    // SAFETY: the handle is open and `code` is a place for the answer.
    if unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) } == 0 {
        return Err(LaunchError::Launcher(io::Error::last_os_error()));
    }
    Ok(code)
}

/// What an exit code means: the status codes of severity "error" are those of unhandled exceptions.
pub fn decode(code: u32) -> End {
    const SEVERITY_ERROR: u32 = 0xC000_0000;
    if code >= SEVERITY_ERROR {
        End::Signaled {
            signal: code.cast_signed(),
            core: false,
        }
    } else {
        End::Exited(i64::from(code))
    }
}

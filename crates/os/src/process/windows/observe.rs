//! Runs a command once as its debugger, to see what it does rather than how fast.
//!
//! The system reports every process, thread and library of the command to the thread that started it, and
//! holds the process meanwhile, so that nothing is missed however short its life.

use std::collections::HashMap;
use std::os::windows::io::AsHandle;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Threading::DEBUG_PROCESS;

use super::super::{End, LaunchError, Observation, ObservedProcess, Spec, Visit};
use super::create::{self, Prepared};
use super::debug::{Event, What};
use super::guide::Guide;
use super::job::Job;
use super::launcher::decode;
use super::{failure, search};
use crate::{Unsupported, signal};

/// How often the time and interrupts are looked at, in milliseconds.
const TICK_MS: u32 = 10;
/// How long we wait for terminated processes to be gone.
const GIVE_UP: Duration = Duration::from_secs(10);
/// As many processes are listed.
const MAX_LISTED: usize = 4096;

/// Runs a command to its end and tells what happened inside.
///
/// The environment and the zeroth argument are known of the command itself only; a child is listed with those
/// that the command had. There is no polite request to end: the debugger would have to pass it on.
///
/// # Errors
/// As [`Launcher::run`](super::Launcher::run).
pub fn observe(spec: &Spec) -> Result<Observation, LaunchError> {
    follow(spec, None)
}

/// As [`observe`], and tells when the command reached a place in its program; it is ended there. Every notice that the
/// system sends on the way (a library was loaded, a thread was made) holds the command; that time is not counted, what it takes to
/// stop and to let go is.
///
/// # Errors
/// As there, and [`LaunchError::Unsupported`] where the program cannot be stopped.
pub fn visit(spec: &Spec, visit: Visit) -> Result<Observation, LaunchError> {
    follow(spec, Some(visit))
}

fn follow(spec: &Spec, visit: Option<Visit>) -> Result<Observation, LaunchError> {
    if signal::interrupted() {
        return Err(LaunchError::Interrupted);
    }
    let path = search::find(spec)?;
    failure::refuse_batch_file(spec, &path)?;
    let job = Job::new().map_err(LaunchError::Launcher)?;
    let mut prepared = Prepared::new(spec, &path)?;
    let command = create::create(&mut prepared, spec, &path, &job, DEBUG_PROCESS)?;
    command.resume().map_err(LaunchError::Launcher)?;
    drop(prepared);
    let mut watch = Watch::new(spec);
    let mut guide = visit.map(Guide::new);
    let mut ending = None;
    let (mut timed_out, mut interrupted, mut stopped) = (false, false, false);
    let limit = spec
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    while watch.running > 0 || watch.end.is_none() {
        if let Some(event) = Event::next(TICK_MS) {
            if let Some(guide) = guide.as_mut().filter(|_| event.process == command.id) {
                guide.stopped(Instant::now());
                match &event.what {
                    What::Made(exe, base) => guide.on_made(command.process.as_handle(), exe, *base),
                    What::Breakpoint(address) => stopped |= guide.on_breakpoint(*address),
                    _ => {}
                }
                stopped |= guide.refused.is_some();
            }
            watch.note(&event, command.id);
            if stopped && ending.is_none() {
                // Before the program goes on, which must not run what its first instruction was replaced by.
                ending = Some(Instant::now());
                job.terminate(1);
            }
            if let Some(guide) = guide.as_mut().filter(|_| event.process == command.id) {
                guide.goes_on();
            }
        }
        let now = Instant::now();
        match ending {
            None => {
                timed_out = watch.end.is_none() && limit.is_some_and(|limit| now >= limit);
                interrupted = signal::interrupted();
                if timed_out || interrupted || watch.end.is_some() {
                    ending = Some(now);
                    job.terminate(1);
                }
            }
            Some(since) if now >= since + GIVE_UP => {
                return Err(LaunchError::Stuck {
                    processes: watch.running as u64,
                });
            }
            Some(_) => job.terminate(1),
        }
    }
    if interrupted {
        return Err(LaunchError::Interrupted);
    }
    let mut observation = watch.finish(timed_out);
    if let Some(guide) = guide {
        if let Some(why) = guide.refused {
            return Err(LaunchError::Unsupported(Unsupported::new(why)));
        }
        if stopped {
            (observation.end, observation.strays) = (End::Stopped, 0);
        }
        observation.arrivals.push(guide.arrival);
    }
    Ok(observation)
}

/// What was seen so far.
struct Watch<'a> {
    spec: &'a Spec,
    places: HashMap<u32, usize>,
    processes: Vec<ObservedProcess>,
    unlisted: u32,
    running: usize,
    strays: usize,
    end: Option<End>,
}

impl<'a> Watch<'a> {
    fn new(spec: &'a Spec) -> Self {
        Self {
            spec,
            places: HashMap::new(),
            processes: Vec::new(),
            unlisted: 0,
            running: 0,
            strays: 0,
            end: None,
        }
    }

    fn note(&mut self, event: &Event, command: u32) {
        let process = self
            .places
            .get(&event.process)
            .map(|&place| &mut self.processes[place]);
        match (&event.what, process) {
            (What::Made(exe, _), _) => {
                self.running += 1;
                if self.processes.len() >= MAX_LISTED {
                    self.unlisted += 1;
                    return;
                }
                self.places.insert(event.process, self.processes.len());
                self.processes.push(ObservedProcess {
                    pid: event.process,
                    exe: exe.clone(),
                    argv0: self.spec.program.clone().into_os_string(),
                    execs: 1,
                    libraries: vec![exe.clone()],
                    environment: self.spec.env.iter().cloned().collect(),
                    ..ObservedProcess::default()
                });
            }
            (What::Ended(code), process) => {
                if let Some(process) = process {
                    process.inspected = true;
                }
                self.places.remove(&event.process);
                self.running = self.running.saturating_sub(1);
                if event.process == command {
                    self.end = Some(decode(*code));
                    self.strays = self.running;
                }
            }
            (What::Thread, Some(process)) => process.threads_created += 1,
            (What::Library(path), Some(process)) if !process.libraries.contains(path) => {
                process.libraries.push(path.clone());
            }
            _ => {}
        }
    }

    fn finish(self, timed_out: bool) -> Observation {
        let end = self.end.filter(|_| !timed_out).unwrap_or(End::TimedOut);
        Observation {
            end,
            processes: self.processes,
            unlisted: self.unlisted,
            arrivals: Vec::new(),
            strays: if timed_out {
                0
            } else {
                u32::try_from(self.strays).unwrap_or(u32::MAX)
            },
        }
    }
}

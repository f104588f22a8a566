//! Accompanies the command itself to a place in each program that it becomes, and keeps the time.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::visit::{Arrival, Place, Visit};
use super::breakpoint::Breakpoint;
use super::inspect;

/// What the command is to do after a stop at a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    GoOn,
    /// It has arrived where it was to be followed to, and ends.
    End,
}

/// The state of a visit.
pub struct Guide {
    visit: Visit,
    /// How long the command ran between the stops so far.
    ran: Duration,
    /// When it was last let go; `None` while it stands still.
    since: Option<Instant>,
    breakpoint: Option<Breakpoint>,
    process: Option<i32>,
    /// Faults at the first stop: those of the process before its exec.
    faults_before: Option<(u64, u64)>,
    /// One for each program so far.
    pub arrivals: Vec<Arrival>,
    /// Why the visit cannot go on.
    pub refused: Option<String>,
}

impl Guide {
    /// A visit that has not begun.
    pub const fn new(visit: Visit) -> Self {
        Self {
            visit,
            ran: Duration::ZERO,
            since: None,
            breakpoint: None,
            process: None,
            faults_before: None,
            arrivals: Vec::new(),
            refused: None,
        }
    }

    /// The command stopped; `now` was read as soon as that was known.
    pub fn stopped(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.ran += now.saturating_duration_since(since);
        }
    }

    /// The command is let go; to be called right before.
    pub fn goes_on(&mut self) {
        self.since = Some(Instant::now());
    }

    /// The command stands at the beginning of a program.
    pub fn on_exec(&mut self, process: i32) {
        self.breakpoint = None;
        self.process = Some(process);
        let exe = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        if self.faults_before.is_none() {
            self.faults_before = inspect::faults(process);
        }
        self.arrivals.push(Arrival {
            exe: exe.clone(),
            ..Arrival::default()
        });
        if fs::metadata(&exe).is_ok_and(|meta| meta.mode() & 0o6000 != 0) {
            self.refused = Some(format!(
                "{} is set-user-id or set-group-id: the system would run it without its privileges while it is traced; time it to its exit",
                exe.display()
            ));
            return;
        }
        match self.plant(process, &exe) {
            Ok(breakpoint) => self.breakpoint = breakpoint,
            Err(error) => {
                self.refused = Some(format!(
                    "{} cannot be stopped at its beginning ({error}); time it to its exit",
                    exe.display()
                ));
            }
        }
    }

    fn plant(&self, process: i32, exe: &Path) -> io::Result<Option<Breakpoint>> {
        let entry = inspect::entry(process)
            .ok_or_else(|| io::Error::other("the kernel does not tell where it begins"))?;
        let address = match self.visit.place {
            Place::Entry => entry,
            Place::Found(find) => {
                let Some(linked) = find(exe) else { return Ok(None) };
                let file = fs::File::open(PathBuf::from(format!("/proc/{process}/exe")))?;
                // Both are moved by the same distance.
                entry.wrapping_add(linked.wrapping_sub(inspect::linked_entry(&file)?))
            }
        };
        Breakpoint::plant(process, address).map(Some)
    }

    /// The command was stopped by a trap. `None` when it is not ours, and the program's own business.
    pub fn on_trap(&mut self, process: i32) -> Option<Next> {
        let breakpoint = self.breakpoint.filter(|breakpoint| breakpoint.is_here(process))?;
        self.breakpoint = None;
        let ran = u64::try_from(self.ran.as_nanos()).unwrap_or(u64::MAX);
        let reached = self.arrivals.len();
        if let Some(arrival) = self.arrivals.last_mut() {
            arrival.ns = Some(ran);
            let faults = inspect::faults(process).zip(self.faults_before);
            arrival.minor_faults = faults.map(|(now, before)| now.0.saturating_sub(before.0));
            arrival.major_faults = faults.map(|(now, before)| now.1.saturating_sub(before.1));
            arrival.private_dirty_bytes = inspect::private_dirty(process);
        }
        if self.visit.stop_at.is_some_and(|last| reached >= last as usize) {
            if let Some(call) = self.visit.at_last {
                call(process.cast_unsigned());
            }
            return Some(Next::End);
        }
        let gone_on = breakpoint
            .remove(process)
            .and_then(|()| breakpoint.step_back(process));
        // A process that was killed meanwhile has no use for it.
        let _ = gone_on;
        Some(Next::GoOn)
    }

    /// The breakpoint in the memory of this process, if it is the visited one and has one.
    pub fn breakpoint_in(&self, process: i32) -> Option<Breakpoint> {
        self.breakpoint.filter(|_| self.process == Some(process))
    }

    /// How long the command may still become another program after an arrival.
    pub const fn settle(&self) -> Option<Duration> {
        match self.visit.stop_at {
            Some(_) => None,
            None => Some(self.visit.settle),
        }
    }
}

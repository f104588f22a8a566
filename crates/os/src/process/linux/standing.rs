//! Starts a command and holds it at the moment when its libraries are relocated and none of its code has run.
//!
//! Until the loader's notes appear ([`super::link_map`]) the process is stopped at its system calls: before them
//! the loader cannot have loaded anything. From then on a breakpoint stands at the function that the loader calls when it
//! has changed its list. A second one, at the beginning of the program, sees to it that not even a loader that
//! keeps no such notes lets the program run.

use std::fs::{self, File};
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::{LaunchError, LinkedObject, MappedRange, Spec};
use super::breakpoint::{self, Breakpoint};
use super::handle::{Handle, Watchdog};
use super::link_map::{CONSISTENT, LinkMap, Notes};
use super::ptrace::{self, Event, STAGE_TRACE, Start};
use super::{block, failure, inspect, maps, observe, search, streams};
use crate::{Unsupported, signal};

/// A process that stands still after its libraries were relocated, before the first of their constructors. It is ended when this is dropped,
/// and when the thread that started it ends.
#[derive(Debug)]
pub struct Standing {
    process: Traced,
    exe: PathBuf,
    vectors: Range<u64>,
    objects: Vec<LinkedObject>,
    mappings: Vec<MappedRange>,
    memory: File,
}

impl Standing {
    /// Starts a command and stops it there. The loader is told to bind all functions at once (`LD_BIND_NOW=1`), so that nothing is left
    /// to be done later; in all else the command is started as `spec` says. [`Spec::grace`] has no meaning here.
    ///
    /// If the program executes another one, that one is stopped instead: see [`Standing::exe`].
    ///
    /// # Errors
    /// As [`Launcher::run`](super::Launcher::run), and [`LaunchError::Unsupported`] for a program with another user's rights, for one
    /// without a loader or with one that keeps no notes as glibc's does, and where the system refuses to trace. A time limit that has
    /// passed is an error of [`io::ErrorKind::TimedOut`]; the process is gone after every error.
    pub fn start(mut spec: Spec) -> Result<Self, LaunchError> {
        if signal::interrupted() {
            return Err(LaunchError::Interrupted);
        }
        spec.env.retain(|(key, _)| key != "LD_BIND_NOW");
        spec.env.push(("LD_BIND_NOW".into(), "1".into()));
        let path = search::find(&spec)?;
        let block = block::build(&spec, &path)?;
        let [stdin, stdout, stderr, directory] = streams::open(&spec)?;
        let mut command = Command::new(&path);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        Start::new(&block, directory).prepare(&mut command);
        let child = command.spawn().map_err(|error| match ptrace::failure(&error) {
            (STAGE_TRACE, _) => LaunchError::Unsupported(observe::why_no_tracing()),
            (stage, errno) => failure::explain(&spec, &path, &block, stage, errno),
        })?;
        let process = Traced::new(child.id().cast_signed()).map_err(LaunchError::Other)?;
        let watchdog = Watchdog::new(process.handle.clone(), spec.timeout).map_err(LaunchError::NoMemory)?;
        let reached = reach(&process);
        let seen = reached.and_then(|reached| Self::look(process, reached));
        if watchdog.timed_out() {
            return Err(LaunchError::Other(io::Error::new(
                io::ErrorKind::TimedOut,
                "its libraries were not loaded within the time limit",
            )));
        }
        if signal::interrupted() {
            return Err(LaunchError::Interrupted);
        }
        seen.map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => LaunchError::Unsupported(Unsupported::new(error.to_string())),
            _ => LaunchError::Other(error),
        })
    }

    fn look(
        process: Traced,
        Reached {
            link_map,
            notes,
            stack,
        }: Reached,
    ) -> io::Result<Self> {
        let exe = fs::read_link(format!("/proc/{}/exe", process.number))?;
        let mappings = maps::read(process.number)?;
        let vectors = link_map.vectors(stack)?;
        Ok(Self {
            process,
            exe,
            vectors,
            objects: link_map.objects(&notes)?,
            mappings,
            memory: link_map.into_memory(),
        })
    }

    /// The program that it is now, whatever it was started as.
    #[must_use]
    pub fn exe(&self) -> &Path {
        &self.exe
    }

    /// Its number.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.process.number.cast_unsigned()
    }

    /// Where the kernel has put the number of arguments and the pointers to arguments and environment: such a pointer as `environ` leads into
    /// it, and it is elsewhere in each process.
    #[must_use]
    pub const fn vectors(&self) -> &Range<u64> {
        &self.vectors
    }

    /// What is loaded, in the loader's order: the program first.
    #[must_use]
    pub fn objects(&self) -> &[LinkedObject] {
        &self.objects
    }

    /// The file that is mapped where an object has its dynamic table: what was really loaded, whatever the loader calls it. `None` for the
    /// kernel's own library.
    #[must_use]
    pub fn file_of(&self, object: &LinkedObject) -> Option<&Path> {
        let mut ranges = self.mappings.iter();
        let range = ranges.find(|range| (range.start..range.end).contains(&object.dynamic))?;
        range.name.is_absolute().then_some(range.name.as_path())
    }

    /// Its address space, in the order of addresses.
    #[must_use]
    pub fn mappings(&self) -> &[MappedRange] {
        &self.mappings
    }

    /// Reads its memory; `into` is filled whole.
    ///
    /// # Errors
    /// When a part of it is not mapped or belongs to a device.
    pub fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.memory.read_exact_at(into, address)
    }
}

/// A process that this thread traces; ended and reaped when dropped.
#[derive(Debug)]
struct Traced {
    number: i32,
    handle: Handle,
    /// Only the thread that started it can reap it.
    _thread: PhantomData<*const ()>,
}

impl Traced {
    /// Of a child that is about to stop after its exec.
    fn new(number: i32) -> io::Result<Self> {
        let handle = Handle::open(number).inspect_err(|_| {
            // Not reaped, so the number is still its own.
            ptrace::kill(number, libc::SIGKILL);
            while matches!(ptrace::take(number), Ok(event) if !matches!(event, Event::Ended(_))) {}
        })?;
        let traced = Self {
            number,
            handle,
            _thread: PhantomData,
        };
        // The stop after the exec, which comes before any option is set.
        ptrace::take(number)?;
        ptrace::set_options_to_stand(number)?;
        Ok(traced)
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.handle.kill();
        while matches!(ptrace::take(self.number), Ok(event) if !matches!(event, Event::Ended(_))) {}
    }
}

/// What is known of a process that has arrived.
struct Reached {
    link_map: LinkMap,
    notes: Notes,
    /// The stack pointer with which its program began.
    stack: u64,
}

/// The breakpoints in one program.
struct Watch {
    stack: u64,
    link_map: LinkMap,
    /// At the beginning of the program.
    entry: Breakpoint,
    /// At the function that the loader calls, once it is known.
    notice: Option<Breakpoint>,
}

impl Watch {
    /// In a process that stands at the beginning of a program.
    fn begin(process: i32) -> io::Result<Self> {
        let unsupported = |why: &str| io::Error::new(io::ErrorKind::Unsupported, why.to_owned());
        if inspect::changes_identity(process) {
            return Err(unsupported(
                "the program is set-user-id or set-group-id: the system would run it without its privileges while it is traced",
            ));
        }
        let entry = inspect::auxiliary(process, inspect::AT_ENTRY)
            .ok_or_else(|| io::Error::other("the kernel does not tell where it begins"))?;
        if breakpoint::stands_at(process, entry) {
            return Err(unsupported(
                "the program is started without a dynamic loader: nothing is loaded",
            ));
        }
        Ok(Self {
            stack: breakpoint::stack_pointer(process)?,
            link_map: LinkMap::find(process)?,
            entry: Breakpoint::plant(process, entry)?,
            notice: None,
        })
    }

    /// At a system call: plants the breakpoint as soon as it is known where.
    fn on_call(&mut self, process: i32) -> io::Result<()> {
        if let Some(notes) = self.link_map.notes()? {
            self.notice = Some(Breakpoint::plant(process, notes.function)?);
        }
        Ok(())
    }

    /// At a trap: the notes when everything is relocated; the memory is then as without us.
    fn on_trap(&self, process: i32) -> io::Result<Option<Notes>> {
        if self.entry.is_here(process) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "its loader did not say when it had relocated everything, as glibc's does",
            ));
        }
        let Some(notice) = self.notice.filter(|notice| notice.is_here(process)) else {
            return Err(io::Error::other(
                "it stopped at a trap of its own before its libraries were loaded",
            ));
        };
        notice.remove(process)?;
        notice.step_back(process)?;
        let notes = self.link_map.notes()?.filter(|notes| notes.state == CONSISTENT);
        if notes.is_some() {
            self.entry.remove(process)?;
        } else {
            ptrace::step(process)?;
            notice.again(process)?;
        }
        Ok(notes)
    }
}

/// Lets the process go on until everything is relocated.
fn reach(process: &Traced) -> io::Result<Reached> {
    let task = process.number;
    let mut watch = Watch::begin(task)?;
    let mut signal = 0;
    loop {
        match watch.notice {
            None => ptrace::go_on_to_call(task, signal),
            Some(_) => ptrace::go_on(task, signal),
        }
        signal = 0;
        match ptrace::take(task)? {
            Event::Ended(status) => return Err(ended(status)),
            Event::Executed => watch = Watch::begin(task)?,
            Event::Signal(ptrace::CALL) => {
                if watch.notice.is_none() {
                    watch.on_call(task)?;
                }
            }
            Event::Signal(libc::SIGTRAP) => {
                if let Some(notes) = watch.on_trap(task)? {
                    return Ok(Reached {
                        link_map: watch.link_map,
                        notes,
                        stack: watch.stack,
                    });
                }
            }
            Event::Signal(other) => signal = other,
            Event::Made { task: made, .. } => {
                // It is traced as well, and must not stay behind.
                ptrace::kill(made, libc::SIGKILL);
                while matches!(ptrace::take(made), Ok(event) if !matches!(event, Event::Ended(_))) {}
                return Err(io::Error::other(
                    "it made another process before its libraries were loaded",
                ));
            }
            Event::Leaving => {}
        }
    }
}

fn ended(status: i32) -> io::Error {
    let how = if libc::WIFEXITED(status) {
        format!("it ended with code {}", libc::WEXITSTATUS(status))
    } else {
        format!("signal {} ended it", libc::WTERMSIG(status))
    };
    io::Error::other(format!(
        "{how} before its libraries were loaded; run it by itself to see why"
    ))
}

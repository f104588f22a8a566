//! Follows a traced command through all that it starts.
//!
//! The kernel's events come in no particular order: the first stop of a new task may be seen before the
//! event of its parent that announces it. Such a task waits until it is known whose it is.

use std::collections::{HashMap, HashSet};
use std::io;
use std::process::Command;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::{End, Observation, ObservedProcess};
use super::breakpoint::Breakpoint;
use super::guide::{Guide, Next};
use super::inspect;
use super::ptrace::{self, Event};

/// As many processes are listed; a build of a large project makes tens of thousands.
const MAX_LISTED: usize = 4096;

/// What the tracer tells the thread that keeps the time.
pub enum News {
    /// The command ended, and some of its descendants still run.
    CommandGone,
    /// The command reached the place where it is visited, and after this time is taken to have become its last program.
    Arrived(Duration),
    /// The visit is over, and what runs is to end.
    VisitOver,
    /// All are gone, or the command could not be started.
    Finished(io::Result<Observation>),
}

/// The processes that are running. A number in it cannot belong to a stranger: it is taken out under the same
/// lock under which the process is reaped.
#[derive(Clone, Default)]
pub struct Live(Arc<Mutex<HashSet<i32>>>);

impl Live {
    /// Sends a signal to all of them.
    pub fn signal(&self, signal: i32) {
        self.lock().iter().for_each(|&pid| ptrace::kill(pid, signal));
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<i32>> {
        // Each change is a single insertion or removal, so a panic elsewhere left nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of following.
pub struct Tracer {
    live: Live,
    news: Sender<News>,
    /// For each task its process.
    tasks: HashMap<i32, i32>,
    /// For each process that is listed its place.
    places: HashMap<i32, usize>,
    /// Tasks whose first stop is still to come.
    fresh: HashSet<i32>,
    /// Tasks that stopped before they were announced.
    early: HashSet<i32>,
    /// Copies of the visited command that have not begun to run.
    copies: HashMap<i32, Breakpoint>,
    processes: Vec<ObservedProcess>,
    unlisted: u32,
    guide: Option<Guide>,
}

impl Tracer {
    /// A tracer that has not started anything; with a guide it also keeps the time to a place.
    pub fn new(live: Live, news: Sender<News>, guide: Option<Guide>) -> Self {
        Self {
            live,
            news,
            tasks: HashMap::new(),
            places: HashMap::new(),
            fresh: HashSet::new(),
            early: HashSet::new(),
            copies: HashMap::new(),
            processes: Vec::new(),
            unlisted: 0,
            guide,
        }
    }

    /// Starts the command and follows it to the end of its last descendant.
    pub fn run(mut self, command: Command) {
        let result = self.follow(command);
        // Nobody listens any more when the other side gave up.
        let _ = self.news.send(News::Finished(result));
    }

    fn follow(&mut self, mut command: Command) -> io::Result<Observation> {
        let root = command.spawn()?.id().cast_signed();
        // Its copies of our descriptors: a reader of the other end of a pipe waits for the last to be closed.
        drop(command);
        self.adopt(root, root, None);
        // The stop after the exec, which came before any option was set.
        ptrace::take(root)?;
        ptrace::set_options(root)?;
        self.on_exec(root);
        self.visit_program(root);
        self.go_on(root, root, 0);
        let mut end = None;
        let mut strays = 0;
        while let Ok(task) = ptrace::peek() {
            if let Some(guide) = self.guide.as_mut().filter(|_| task == root) {
                guide.stopped(Instant::now());
            }
            let mut live = self.live.0.lock().unwrap_or_else(PoisonError::into_inner);
            let event = ptrace::take(task)?;
            if let Event::Ended(status) = event {
                live.remove(&task);
                strays = if task == root { live.len() } else { strays };
                drop(live);
                self.forget(task);
                if task == root {
                    end = Some(decode(status));
                    if strays > 0 {
                        let _ = self.news.send(News::CommandGone);
                    }
                }
                continue;
            }
            drop(live);
            let trap = task == root && event == Event::Signal(libc::SIGTRAP) && self.on_trap(root);
            if trap {
                self.go_on(root, root, 0);
            } else if let Some(signal) = self.on_stop(task, event) {
                if task == root && event == Event::Executed {
                    self.visit_program(root);
                }
                self.go_on(root, task, signal);
            }
        }
        if let Some(why) = self.guide.as_mut().and_then(|guide| guide.refused.take()) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        Ok(Observation {
            end: end.ok_or_else(|| io::Error::other("the command was lost sight of"))?,
            processes: std::mem::take(&mut self.processes),
            unlisted: self.unlisted,
            strays: u32::try_from(strays).unwrap_or(u32::MAX),
            arrivals: self.guide.take().map_or_else(Vec::new, |guide| guide.arrivals),
        })
    }

    /// Lets a task go on; the visited command last of all that we do, since its time begins.
    fn go_on(&mut self, root: i32, task: i32, signal: i32) {
        if let Some(guide) = self.guide.as_mut().filter(|_| task == root) {
            guide.goes_on();
        }
        ptrace::go_on(task, signal);
    }

    /// The command stands at the beginning of a program.
    fn visit_program(&mut self, root: i32) {
        let Some(guide) = &mut self.guide else { return };
        guide.on_exec(root);
        if guide.refused.is_some() {
            self.end_visit();
        }
    }

    /// A new process stands at its very beginning: what the visit left in its copy of the memory is taken out.
    fn heal(&mut self, task: i32) {
        if let Some(breakpoint) = self.copies.remove(&task) {
            // A process that was killed meanwhile has no use for it.
            let _ = breakpoint.remove(task);
        }
    }

    /// Whether the trap was that of the visit.
    fn on_trap(&mut self, root: i32) -> bool {
        let Some(guide) = &mut self.guide else {
            return false;
        };
        match guide.on_trap(root) {
            None => return false,
            Some(Next::End) => self.end_visit(),
            Some(Next::GoOn) => {
                // It may be ended before it can be looked into at its end.
                if let Some(&place) = self.places.get(&root) {
                    inspect::before_end(root, &mut self.processes[place]);
                }
                if let Some(settle) = guide.settle() {
                    let _ = self.news.send(News::Arrived(settle));
                }
            }
        }
        true
    }

    fn end_visit(&self) {
        self.live.signal(libc::SIGKILL);
        let _ = self.news.send(News::VisitOver);
    }

    /// Notes what a stop means; the signal to go on with, or None to leave it stopped.
    fn on_stop(&mut self, task: i32, event: Event) -> Option<i32> {
        match event {
            Event::Made { task: new, copied } => {
                let breakpoint = self.guide.as_ref().and_then(|guide| guide.breakpoint_in(task));
                if let Some(breakpoint) = breakpoint.filter(|_| copied) {
                    self.copies.insert(new, breakpoint);
                }
                self.on_new_task(task, new);
            }
            Event::Executed => self.on_exec(task),
            Event::Leaving => {
                let process = self.tasks.get(&task).copied();
                if let Some(place) = process.and_then(|process| self.places.get(&process)) {
                    let entry = &mut self.processes[*place];
                    // The first thread knows best, but it may have ended long before the others.
                    if process == Some(task) || !entry.inspected {
                        inspect::before_end(task, entry);
                    }
                }
            }
            Event::Signal(libc::SIGSTOP) if self.fresh.remove(&task) => self.heal(task),
            Event::Signal(_) if !self.tasks.contains_key(&task) => {
                self.early.insert(task);
                return None;
            }
            Event::Signal(signal) => return Some(signal),
            Event::Ended(_) => return None,
        }
        Some(0)
    }

    fn on_new_task(&mut self, maker: i32, new: i32) {
        let parent = self.tasks.get(&maker).copied();
        // A task that was killed at once cannot be asked; then it is a process of its own without a trace.
        let process = inspect::process_of(new).unwrap_or(new);
        self.adopt(new, process, parent);
        if self.early.remove(&new) {
            self.heal(new);
            ptrace::go_on(new, 0);
        } else {
            self.fresh.insert(new);
        }
    }

    /// Enters a task; a new process begins as a copy of its parent.
    fn adopt(&mut self, task: i32, process: i32, parent: Option<i32>) {
        self.tasks.insert(task, process);
        if task != process {
            if let Some(&place) = self.places.get(&process) {
                self.processes[place].threads_created += 1;
            }
            return;
        }
        self.live.lock().insert(process);
        if self.processes.len() >= MAX_LISTED {
            self.unlisted += 1;
            return;
        }
        let copy = parent
            .and_then(|parent| self.places.get(&parent))
            .map(|&place| &self.processes[place]);
        let entry = ObservedProcess {
            pid: process.cast_unsigned(),
            execs: 0,
            threads_created: 0,
            inspected: false,
            ..copy.cloned().unwrap_or_default()
        };
        self.places.insert(process, self.processes.len());
        self.processes.push(entry);
    }

    /// A number that is free may be given to another task.
    fn forget(&mut self, task: i32) {
        self.tasks.remove(&task);
        self.places.remove(&task);
        self.fresh.remove(&task);
        self.early.remove(&task);
        self.copies.remove(&task);
    }

    fn on_exec(&mut self, process: i32) {
        // Whatever thread executed, it now has the number of the process, and the others are gone.
        self.tasks
            .retain(|&task, &mut owner| owner != process || task == process);
        self.tasks.insert(process, process);
        if let Some(&place) = self.places.get(&process) {
            let entry = &mut self.processes[place];
            entry.execs += 1;
            inspect::after_exec(process, entry);
        }
    }
}

fn decode(status: i32) -> End {
    if libc::WIFEXITED(status) {
        End::Exited(libc::WEXITSTATUS(status).into())
    } else {
        End::Signaled {
            signal: libc::WTERMSIG(status),
            core: libc::WCOREDUMP(status),
        }
    }
}

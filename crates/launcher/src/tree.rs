//! Ends whatever a command left behind, down to the last descendant.
//!
//! A command may start daemons that leave their group and session, ignore SIGTERM, and outlive their parents.
//! None of that takes them out of our reach: when a process ends, its children are handed to the nearest
//! ancestor that asked for orphans, which is us. So we list our descendants from /proc, signal each of them,
//! reap whoever is gone, and begin again until the kernel says that we have no children; only that answer
//! proves that nothing is left, because the lists in /proc may miss a process that was being made just then.

use crate::run::Run;
use crate::sys::{self, Errno, POLLRDHUP, Poll, SIGCONT, SIGKILL, SIGTERM};
use crate::text::{ProcPath, numbers};

/// How long SIGKILL is repeated before we give up: only a process stuck in the kernel survives the first.
const GIVE_UP_NS: u64 = 10_000_000_000;
/// Pauses between two looks: short at first, because most processes are gone at once.
const FIRST_PAUSE_NS: u64 = 50_000;
const LONGEST_PAUSE_NS: u64 = 5_000_000;

/// How many descendants one look can hold; the rest is seen when these are gone.
const LISTED: usize = 1024;

/// Reaps every child that is gone, the command of `run` with its accounts. True when no child is left.
pub fn reap_gone(run: &mut Run) -> bool {
    loop {
        match sys::peek_zombie() {
            Ok(Some(pid)) if run.is_command(pid) => run.close_books(),
            Ok(Some(pid)) => drop(sys::reap(pid)),
            Ok(None) => return false,
            Err(Errno::EINTR) => {}
            // ECHILD; any other error would not go away by asking again.
            Err(_) => return true,
        }
    }
}

/// Reaps orphans that are gone while the command runs on, so that they do not pile up.
pub fn reap_orphans(run: &Run) {
    while let Ok(Some(pid)) = sys::peek_zombie() {
        if run.is_command(pid) {
            return;
        }
        let _ = sys::reap(pid);
    }
}

/// Ends all our descendants: SIGTERM, then after `grace_ns`, or as soon as `control` hangs up, SIGKILL.
/// Returns how many resisted even that.
pub fn end(run: &mut Run, control: i32, grace_ns: u64) -> u64 {
    let kill_at = sys::now().saturating_add(grace_ns);
    let mut give_up_at = None;
    let mut pause = FIRST_PAUSE_NS;
    if grace_ns > 0 {
        let list = Descendants::list();
        list.signal(SIGTERM);
        // Who is stopped can only answer when continued.
        list.signal(SIGCONT);
    }
    loop {
        if reap_gone(run) {
            return 0;
        }
        let now = sys::now();
        if give_up_at.is_none() && (now >= kill_at || hung_up(control)) {
            give_up_at = Some(now.saturating_add(GIVE_UP_NS));
            pause = FIRST_PAUSE_NS;
        }
        if let Some(limit) = give_up_at {
            let list = Descendants::list();
            if now >= limit {
                return list.count_running().max(1);
            }
            list.signal(SIGKILL);
        }
        let until_kill = if give_up_at.is_none() {
            kill_at.saturating_sub(now)
        } else {
            u64::MAX
        };
        // Waking up early when the command itself is gone keeps its wall time exact.
        let _ = sys::poll(&mut [run.poll()], pause.min(until_kill));
        pause = (pause * 2).min(LONGEST_PAUSE_NS);
    }
}

fn hung_up(control: i32) -> bool {
    let mut polls = [Poll::new(control, POLLRDHUP)];
    matches!(sys::poll(&mut polls, 0), Ok(count) if count > 0)
}

/// Our descendants at one moment, each with its parent.
pub struct Descendants {
    entries: [(i32, i32); LISTED],
    length: usize,
}

impl Descendants {
    /// Lists them, parents before children.
    pub fn list() -> Self {
        let us = sys::pid();
        let mut list = Self {
            entries: [(0, 0); LISTED],
            length: 0,
        };
        list.add_children_of(us);
        let mut next = 0;
        while next < list.length {
            list.add_children_of(list.entries[next].0);
            next += 1;
        }
        list
    }

    /// How many of them still run: a zombie that nobody waited for yet does not.
    pub fn count_running(&self) -> u64 {
        self.entries().filter(|&(pid, _)| !is_zombie(pid)).count() as u64
    }

    /// Sends `signal` to each.
    ///
    /// By way of a process descriptor: should a process be gone and its number given to a stranger since we
    /// listed it, the descriptor is the stranger's, and then the number is no longer among the children of the
    /// parent that we found it with.
    pub fn signal(&self, signal: i32) {
        for (pid, parent) in self.entries() {
            if let Ok(process) = sys::open_process(pid)
                && is_child(pid, parent)
            {
                let _ = sys::signal_process(&process, signal);
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = (i32, i32)> {
        self.entries.iter().take(self.length).copied()
    }

    fn add_children_of(&mut self, parent: i32) {
        each_child(parent, |pid| {
            if let Some(slot) = self.entries.get_mut(self.length) {
                *slot = (pid, parent);
                self.length += 1;
            }
        });
    }
}

fn is_child(pid: i32, parent: i32) -> bool {
    // The parent may have ended meanwhile, and handed its children to us.
    [parent, sys::pid()].into_iter().any(|parent| {
        let mut found = false;
        each_child(parent, |child| found |= child == pid);
        found
    })
}

/// Calls `found` for each child of each thread of `parent`.
fn each_child(parent: i32, mut found: impl FnMut(i32)) {
    each_thread(parent, |tid| {
        let Ok(file) = sys::open(ProcPath::of_task(parent, tid, "children").as_bytes()) else {
            return;
        };
        // Numbers with spaces between; one may be cut by the end of the buffer.
        let mut buffer = [0_u8; 1024];
        let mut kept = 0;
        while let Ok(read) = sys::read(file.number(), &mut buffer[kept..]) {
            let filled = kept + read;
            let text = &buffer[..filled];
            let whole = if read == 0 {
                filled
            } else {
                text.iter().rposition(|&b| b == b' ').map_or(0, |at| at + 1)
            };
            numbers(&text[..whole]).for_each(|pid| found(pid as i32));
            if read == 0 || whole == 0 {
                break;
            }
            buffer.copy_within(whole..filled, 0);
            kept = filled - whole;
        }
    });
}

/// Calls `found` for each thread of `pid`, from the entries of `/proc/PID/task`.
fn each_thread(pid: i32, mut found: impl FnMut(i32)) {
    /// struct linux_dirent64: inode and offset of 8 bytes, length of the entry, type, name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let Ok(directory) = sys::open(ProcPath::of(pid, "task").as_bytes()) else {
        return;
    };
    let mut buffer = [0_u8; 1024];
    while let Ok(filled) = sys::read_directory(&directory, &mut buffer) {
        let mut entries = buffer.get(..filled).unwrap_or_default();
        if entries.is_empty() {
            return;
        }
        while let [low, high] = *entries.get(LENGTH..LENGTH + 2).unwrap_or_default() {
            let length = usize::from(u16::from_ne_bytes([low, high]));
            let name = entries.get(NAME..length).unwrap_or_default();
            // `.` and `..` hold no number.
            if let Some(tid) = numbers(name.split(|&byte| byte == 0).next().unwrap_or_default()).next() {
                found(tid as i32);
            }
            entries = entries.get(length.max(1)..).unwrap_or_default();
        }
    }
}

/// Whether the process is gone and only waits to be reaped. One that cannot be looked up is gone, too.
fn is_zombie(pid: i32) -> bool {
    let mut buffer = [0_u8; 256];
    let Ok(file) = sys::open(ProcPath::of(pid, "stat").as_bytes()) else {
        return true;
    };
    let length = sys::read(file.number(), &mut buffer).unwrap_or(0);
    // `pid (name) state …`: the name may hold anything, so the state is found from the last parenthesis.
    let text = buffer.get(..length).unwrap_or_default();
    let state = text
        .iter()
        .rposition(|&byte| byte == b')')
        .and_then(|at| text.get(at + 2));
    matches!(state, None | Some(b'Z' | b'X'))
}

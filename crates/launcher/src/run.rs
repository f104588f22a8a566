//! One run: start the command, wait, close its books, end what it left behind.
//!
//! The wall time is the interval from just before exec, read by the new process, to the notification that the
//! command is gone. What making the process costs is its parent's affair, and outside.

use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use crate::account;
use crate::child::{self, Child, Plan};
use crate::cpus::Cpus;
use crate::protocol::{
    KIND_ENDED, KIND_FAILED, KIND_STUCK, NO_TIMEOUT, OP_CANCEL, RUN_DESCRIPTORS, Reply, STAGE_AFFINITY,
    STAGE_CLONE,
};
use crate::request::{RunRequest, receive_header};
use crate::sys::{self, Errno, POLLIN, POLLRDHUP, Poll};
use crate::tree;

/// How often we look after orphans while the command runs.
const TICK_NS: u64 = 500_000_000;

/// How long `underhood` is given to go to sleep: it takes about 10 us to do so.
const SETTLE_NS: u64 = 50_000;

/// A command that was started, and what is known of it.
pub struct Run {
    child: Child,
    started_ns: u64,
    before: [u64; 2],
    reaped: bool,
    reply: Reply,
}

impl Run {
    /// Whether `pid` is the command, and not yet reaped.
    pub const fn is_command(&self, pid: i32) -> bool {
        !self.reaped && self.child.pid == pid
    }

    /// What to poll in order to notice the command's end.
    pub const fn poll(&self) -> Poll {
        // A negative descriptor is skipped.
        Poll::new(
            if self.reaped {
                -1
            } else {
                self.child.process.number()
            },
            POLLIN,
        )
    }

    /// Reads the accounts of the command, which is gone, and reaps it.
    pub fn close_books(&mut self) {
        if self.reply.wall_ns == 0 {
            self.reply.wall_ns = sys::now() - self.started_ns;
        }
        account::read_zombie(self.child.pid, &mut self.reply);
        if let Ok((status, usage)) = sys::reap(self.child.pid) {
            self.reply.status = u64::from(status);
            account::enter_usage(&usage, &mut self.reply);
            account::leave_out(self.before, &mut self.reply);
        }
        self.reply.floor_bytes = account::own_peak();
        self.reaped = true;
    }
}

/// Lets `underhood`, which woke us a moment ago, go to sleep.
///
/// Beside a running process the kernel gives a new one another processor, which on a quiet machine must first be
/// woken: a lottery that made half of the runs of a short command 60 us slower. Not by sleeping ourselves: this processor is
/// to stay awake.
fn settle() {
    let until = sys::now() + SETTLE_NS;
    while sys::now() < until {
        sys::give_way();
    }
}

/// Serves one request from start to end.
pub fn run(request: &RunRequest<'_>, cpus: &Cpus, control: i32) -> Reply {
    if let Err(errno) = cpus.take(request.mask) {
        return failed(STAGE_AFFINITY, errno);
    }
    let [stdin, stdout, stderr, directory] = &request.descriptors;
    const _: () = assert!(RUN_DESCRIPTORS == 4);
    let plan = Plan {
        program: request.program,
        streams: [stdin.number(), stdout.number(), stderr.number()],
        directory: directory.number(),
        parent: sys::pid(),
        failed_stage: AtomicU64::new(0),
        errno: AtomicI32::new(0),
        started_ns: AtomicU64::new(0),
        before: [const { AtomicU64::new(0) }; 2],
    };
    settle();
    #[expect(unsafe_code, reason = "the vectors are raw addresses, as execve wants them")]
    // SAFETY: `request` laid the vectors out and borrows the memory that they point into.
    let spawned = unsafe { child::spawn(&plan) };
    let child = match spawned {
        Ok(child) => child,
        Err(errno) => return failed(STAGE_CLONE, errno),
    };
    let mut run = Run {
        child,
        started_ns: plan.started_ns.load(Relaxed),
        before: plan.before.each_ref().map(|value| value.load(Relaxed)),
        reaped: false,
        reply: Reply::default(),
    };
    let stage = plan.failed_stage.load(Relaxed);
    if stage != 0 {
        let _ = sys::reap(run.child.pid);
        return failed(stage, Errno(plan.errno.load(Relaxed)));
    }
    run.reply.kind = KIND_ENDED;
    let grace_ns = request.header.grace_ns;
    match wait(&mut run, control, request.header.timeout_ns) {
        Woken::Ended => {
            run.close_books();
            if !tree::reap_gone(&mut run) {
                run.reply.strays = tree::Descendants::list().count_running();
                run.reply.leftover = tree::end(&mut run, control, grace_ns);
            }
        }
        Woken::TimedOut => {
            run.reply.timed_out = 1;
            run.reply.leftover = tree::end(&mut run, control, grace_ns);
        }
        Woken::Cancelled => {
            run.reply.cancelled = 1;
            run.reply.leftover = tree::end(&mut run, control, grace_ns);
        }
        // Nobody is left who could grant a grace.
        Woken::Hangup => run.reply.leftover = tree::end(&mut run, control, 0),
    }
    if !run.reaped {
        run.reply.kind = KIND_STUCK;
    }
    run.reply
}

enum Woken {
    Ended,
    TimedOut,
    Cancelled,
    Hangup,
}

/// Waits for the command's end, the time limit or a word from `underhood`, whatever comes first.
fn wait(run: &mut Run, control: i32, timeout_ns: u64) -> Woken {
    let deadline = if timeout_ns == NO_TIMEOUT {
        u64::MAX
    } else {
        run.started_ns.saturating_add(timeout_ns)
    };
    let mut now = run.started_ns;
    loop {
        let mut polls = [run.poll(), Poll::new(control, POLLIN | POLLRDHUP)];
        let answer = sys::poll(&mut polls, TICK_NS.min(deadline.saturating_sub(now)));
        now = sys::now();
        let [command, word] = polls;
        if answer.is_ok() && command.got != 0 {
            run.reply.wall_ns = now - run.started_ns;
            return Woken::Ended;
        }
        if answer.is_ok() && word.got != 0 {
            return match receive_header(control, &mut [const { None }; RUN_DESCRIPTORS]) {
                Some(request) if request.op == OP_CANCEL => Woken::Cancelled,
                _ => Woken::Hangup,
            };
        }
        if now >= deadline {
            return Woken::TimedOut;
        }
        tree::reap_orphans(run);
    }
}

fn failed(stage: u64, errno: Errno) -> Reply {
    Reply {
        kind: KIND_FAILED,
        stage,
        errno: errno.0 as u64,
        ..Reply::default()
    }
}

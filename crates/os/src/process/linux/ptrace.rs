//! The handful of ptrace(2) and wait(2) calls that observation needs.
#![expect(unsafe_code, reason = "ptrace and waitid are raw calls")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::block::Block;
use super::protocol::{STAGE_AFFINITY, STAGE_CLONE, STAGE_DIRECTORY, STAGE_EXEC};

/// How an errno and the stage where it happened travel together through the standard library's pipe.
const STAGE_SHIFT: u32 = 16;

/// Where a start failed: the system refused to trace. Beside the `STAGE_` numbers of the protocol.
pub const STAGE_TRACE: u64 = 15;

/// What a stopped or ended task has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It ended with this status word.
    Ended(i32),
    /// It made the task with this number.
    Made {
        /// The number.
        task: i32,
        /// It is a process with a copy of the memory (fork), not one that shares it (vfork, a thread).
        copied: bool,
    },
    /// It executed a program.
    Executed,
    /// It is about to end; its memory is still there.
    Leaving,
    /// It is stopped by a signal that is to be passed on.
    Signal(i32),
}

/// What the child needs between fork and exec, made before the fork.
pub struct Start {
    /// The path, the arguments and the environment, each ended by zero.
    text: Vec<u8>,
    /// Arguments in `text`, the zeroth included.
    argc: usize,
    /// CPU mask; empty for ours.
    cpus: Vec<u8>,
    directory: OwnedFd,
}

impl Start {
    /// What `block` holds, started in `directory`.
    pub fn new(block: &Block, directory: OwnedFd) -> Self {
        let (cpus, text) = block.bytes.split_at(block.mask_bytes);
        Self {
            text: text.to_vec(),
            argc: block.argc,
            cpus: cpus.to_vec(),
            directory,
        }
    }

    /// Lets `command` become this program in a session of its own, traced by the thread that spawns it.
    pub fn prepare(self, command: &mut Command) {
        let strings = self
            .text
            .split_inclusive(|&byte| byte == 0)
            .map(|string| string.as_ptr().addr());
        let mut argv: Vec<_> = strings.skip(1).collect();
        let mut envp = argv.split_off(self.argc.min(argv.len()));
        argv.push(0);
        envp.push(0);
        // SAFETY: the closure only makes system calls, which is safe after a fork in a process with threads.
        unsafe { command.pre_exec(move || Err(self.become_program(&argv, &envp))) };
    }

    /// Runs in the child; returns only what went wrong.
    fn become_program(&self, argv: &[usize], envp: &[usize]) -> io::Error {
        let failed = |stage: u64| {
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
            io::Error::from_raw_os_error(errno | (stage as i32) << STAGE_SHIFT)
        };
        let mask = &self.cpus;
        // SAFETY: numbers only. The standard library's own pipe must stay open until the exec.
        unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        // SAFETY: no arguments.
        unsafe { libc::setsid() };
        if !mask.is_empty() {
            // SAFETY: the mask is alive and as long as it is said to be.
            let answer = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, mask.len(), mask.as_ptr()) };
            if answer < 0 {
                return failed(STAGE_AFFINITY);
            }
        }
        // SAFETY: a descriptor that we own.
        if unsafe { libc::fchdir(self.directory.as_raw_fd()) } < 0 {
            return failed(STAGE_DIRECTORY);
        }
        // SAFETY: asks to be traced by the parent; no pointers.
        if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } < 0 {
            return failed(STAGE_TRACE);
        }
        // SAFETY: the vectors hold addresses of strings in `self.text`, whose bytes have not moved since they
        // were taken, and end with null.
        unsafe {
            libc::execve(
                self.text.as_ptr().cast(),
                argv.as_ptr().cast(),
                envp.as_ptr().cast(),
            )
        };
        failed(STAGE_EXEC)
    }
}

/// The stage and the errno of a start that failed.
pub fn failure(error: &io::Error) -> (u64, i32) {
    let both = error.raw_os_error().unwrap_or(0);
    match both >> STAGE_SHIFT {
        // The standard library could not even fork.
        0 => (STAGE_CLONE, both),
        stage => (stage as u64, both & ((1 << STAGE_SHIFT) - 1)),
    }
}

/// Asks for all events, for descendants to be traced as well, and for the end of all of them should we end.
pub fn set_options(task: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT
        | libc::PTRACE_O_EXITKILL;
    // SAFETY: the options are a number; the kernel answers ESRCH when the task is not ours and stopped.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, task, 0, options) })
}

/// The signal by which a stop at a system call is told from a trap, with the option of [`set_options_to_stand`].
pub const CALL: i32 = libc::SIGTRAP | 0x80;

/// Asks for what [`super::standing`] needs: system calls told apart, execs, every new task, and the end should we end.
pub fn set_options_to_stand(task: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    // SAFETY: as for `set_options`.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, task, 0, options) })
}

/// Lets a stopped task go on to the beginning or the end of its next system call, with a signal (0 for none).
pub fn go_on_to_call(task: i32, signal: i32) {
    // SAFETY: as for `go_on`.
    let _ = check(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, task, 0, signal) });
}

/// Lets a stopped task execute one instruction, and waits for that.
///
/// # Errors
/// When it stopped for another reason, or is gone.
pub fn step(task: i32) -> io::Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, task, 0, 0) })?;
    match take(task)? {
        Event::Signal(libc::SIGTRAP) => Ok(()),
        other => Err(io::Error::other(format!(
            "it did not take a single step: {other:?}"
        ))),
    }
}

/// Lets a stopped task go on, with a signal (0 for none).
pub fn go_on(task: i32, signal: i32) {
    // SAFETY: the signal is a number. A task that was killed meanwhile answers ESRCH, which is as good.
    let _ = check(unsafe { libc::ptrace(libc::PTRACE_CONT, task, 0, signal) });
}

/// Waits until a child or tracee of this very thread has something to say, without taking it.
///
/// # Errors
/// ECHILD when there is none left.
pub fn peek() -> io::Result<i32> {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD;
    loop {
        // SAFETY: zero is a valid value of every field of this C structure.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is ours to be written.
        match check(unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) }.into()) {
            // SAFETY: after a successful waitid the structure is that of a child.
            Ok(()) => return Ok(unsafe { info.si_pid() }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes what `task`, which [`peek`] named, has to say.
pub fn take(task: i32) -> io::Result<Event> {
    let mut status = 0;
    // SAFETY: `status` is ours to be written.
    check(unsafe { libc::waitpid(task, &raw mut status, libc::__WALL | libc::__WNOTHREAD) }.into())?;
    if !libc::WIFSTOPPED(status) {
        return Ok(Event::Ended(status));
    }
    Ok(match status >> 16 {
        event @ (libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK) => {
            Event::Made {
                task: message(task).unwrap_or(0),
                copied: event == libc::PTRACE_EVENT_FORK,
            }
        }
        libc::PTRACE_EVENT_EXEC => Event::Executed,
        libc::PTRACE_EVENT_EXIT => Event::Leaving,
        _ => Event::Signal(libc::WSTOPSIG(status)),
    })
}

/// Sends a signal to a process.
pub fn kill(process: i32, signal: i32) {
    // SAFETY: numbers only.
    unsafe { libc::kill(process, signal) };
}

fn message(task: i32) -> io::Result<i32> {
    let mut value: libc::c_ulong = 0;
    // SAFETY: the kernel writes one word to `value`.
    check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, task, 0, &raw mut value) })?;
    Ok(i32::try_from(value).unwrap_or(0))
}

pub fn check(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

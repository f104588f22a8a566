//! Our side of the launcher program: start it once, ask it for runs, translate its answers.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::{End, LaunchError, Outcome, Spec, Usage};
use super::protocol::{
    CAN_ADOPT, CAN_IO, CAN_SCHEDSTAT, CAN_WALK, Hello, KIND_ENDED, KIND_FAILED, MAGIC, MAX_BLOCK, NO_TIMEOUT,
    OP_CANCEL, OP_RUN, Reply, Request, UNKNOWN,
};
use super::socket::{Socket, Woken};
use super::{block, failure, search, streams};
use crate::Unsupported;
use crate::signal;

/// How long a launcher may take to say its first words; it takes microseconds.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// Starts commands and accounts for them. See [`super::super`] for the contract.
///
/// Dropping it ends the launcher, and with it whatever should still run.
pub struct Launcher {
    /// None once it is closed.
    socket: Option<Socket>,
    process: Child,
    hello: Hello,
}

impl Launcher {
    /// Starts the launcher program at `launcher_exe`.
    ///
    /// # Errors
    /// The program cannot be started, or is not a launcher of this version.
    pub fn start(launcher_exe: &Path) -> io::Result<Self> {
        let (mut socket, theirs) = Socket::pair()?;
        let mut process = Command::new(launcher_exe)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        match socket.hello(HELLO_LIMIT) {
            Ok(hello) if hello.magic == MAGIC => {
                signal::register_launcher(socket.descriptor());
                Ok(Self {
                    socket: Some(socket),
                    process,
                    hello,
                })
            }
            answer => {
                drop(socket);
                // It may be any program, one that never ends included.
                let _ = process.kill();
                let _ = process.wait();
                let why = answer
                    .err()
                    .map_or_else(|| "it speaks another version".to_owned(), |e| e.to_string());
                Err(io::Error::other(format!(
                    "`{}` does not answer like the launcher of this version ({why}); reinstall",
                    launcher_exe.display()
                )))
            }
        }
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// See [`LaunchError`]; whatever it is, nothing of the command is left running. [`LaunchError::Interrupted`]
    /// comes as soon as the command's tree is gone, at the latest [`Spec::grace`] after the interrupt.
    pub fn run(&mut self, spec: &Spec) -> Result<Outcome, LaunchError> {
        if signal::interrupted() {
            return Err(LaunchError::Interrupted);
        }
        let path = search::find(spec)?;
        let block = block::build(spec, &path)?;
        if block.bytes.len() as u64 > MAX_BLOCK {
            return Err(LaunchError::TooLong {
                bytes: block.text_bytes(),
            });
        }
        let descriptors = streams::open(spec)?;
        let request = Request {
            magic: MAGIC,
            op: OP_RUN,
            block_bytes: block.bytes.len() as u64,
            mask_bytes: block.mask_bytes as u64,
            argc: block.argc as u64,
            envc: spec.env.len() as u64,
            timeout_ns: spec.timeout.map_or(NO_TIMEOUT, nanoseconds),
            grace_ns: nanoseconds(spec.grace),
        };
        let mut message = Vec::with_capacity(Request::BYTES + block.bytes.len());
        message.extend_from_slice(&request.to_bytes());
        message.extend_from_slice(&block.bytes);
        let reply = self
            .exchange(&message, &descriptors)
            .map_err(LaunchError::Launcher)?;
        match reply.kind {
            _ if reply.leftover > 0 => Err(LaunchError::Stuck {
                processes: reply.leftover,
            }),
            KIND_FAILED => {
                let errno = i32::try_from(reply.errno).unwrap_or(0);
                Err(failure::explain(spec, &path, &block, reply.stage, errno))
            }
            _ if reply.cancelled != 0 => Err(LaunchError::Interrupted),
            KIND_ENDED => Ok(Outcome {
                end: end(&reply),
                usage: usage(&reply),
            }),
            kind => Err(LaunchError::Launcher(io::Error::other(format!(
                "unknown answer {kind}"
            )))),
        }
    }

    /// The size in bytes that no command's peak can be below, because it inherits the launcher's.
    #[must_use]
    pub const fn peak_rss_floor(&self) -> u64 {
        self.hello.floor_bytes
    }

    /// What this machine lets us do and count, and why not.
    #[must_use]
    pub fn support(&self) -> Vec<(&'static str, Result<(), Unsupported>)> {
        let answer = |bit, why: &'static str| {
            if self.hello.can & bit != 0 {
                Ok(())
            } else {
                Err(Unsupported::new(why))
            }
        };
        vec![
            (
                "orphans",
                answer(
                    CAN_ADOPT,
                    "this kernel does not hand orphans to a subreaper (prctl refused)",
                ),
            ),
            (
                "tree",
                answer(
                    CAN_WALK,
                    "/proc/PID/task/TID/children cannot be read: mount /proc, or use a kernel with CONFIG_PROC_CHILDREN",
                ),
            ),
            (
                "runqueue_wait",
                answer(
                    CAN_SCHEDSTAT,
                    "/proc/PID/schedstat cannot be read: this kernel has no CONFIG_SCHED_INFO",
                ),
            ),
            (
                "io_bytes",
                answer(
                    CAN_IO,
                    "/proc/PID/io cannot be read: this kernel has no CONFIG_TASK_IO_ACCOUNTING",
                ),
            ),
        ]
    }

    fn exchange(&mut self, message: &[u8], descriptors: &[std::os::fd::OwnedFd; 4]) -> io::Result<Reply> {
        let socket = self.socket.as_mut().ok_or_else(gone)?;
        socket.send_with(message, descriptors).map_err(|_| gone())?;
        if matches!(socket.wait()?, Woken::Interrupted) {
            let cancel = Request {
                magic: MAGIC,
                op: OP_CANCEL,
                ..Request::default()
            };
            // Should it fail, the launcher is gone, which the next line reports.
            let _ = socket.send(&cancel.to_bytes());
        }
        socket.reply().map_err(|_| gone())
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            signal::forget_launcher(socket.descriptor());
        }
        // It sees the socket close, ends what is left and goes.
        let _ = self.process.wait();
    }
}

fn gone() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "it ended unexpectedly, as if it had been killed",
    )
}

fn nanoseconds(duration: Duration) -> u64 {
    // Half a thousand years are as good as none, and stay clear of the value that means "no limit".
    u64::try_from(duration.as_nanos())
        .unwrap_or(u64::MAX)
        .min(NO_TIMEOUT - 1)
}

fn end(reply: &Reply) -> End {
    // The word of wait(2): the low seven bits are the signal, the next one tells of a core, then the code.
    let status = reply.status;
    match status & 0x7f {
        _ if reply.timed_out != 0 => End::TimedOut,
        0 => End::Exited((status >> 8 & 0xff).cast_signed()),
        signal => End::Signaled {
            signal: signal as i32,
            core: status & 0x80 != 0,
        },
    }
}

fn usage(reply: &Reply) -> Usage {
    let known = |value| (value != UNKNOWN).then_some(value);
    let (user_ns, system_ns) = (reply.user_us * 1000, reply.system_us * 1000);
    Usage {
        wall_ns: reply.wall_ns,
        user_ns: Some(user_ns),
        system_ns: Some(system_ns),
        // Both are below the truth: the sum is cut to microseconds, and the other knows one thread only.
        cpu_ns: Some(known(reply.main_cpu_ns).unwrap_or(0).max(user_ns + system_ns)),
        runqueue_wait_ns: known(reply.main_wait_ns),
        peak_rss_bytes: Some(reply.peak_rss_bytes.max(reply.floor_bytes)),
        peak_rss_is_upper_bound: reply.peak_rss_bytes <= reply.floor_bytes,
        minor_faults: Some(reply.minor_faults),
        major_faults: Some(reply.major_faults),
        voluntary: Some(reply.voluntary),
        involuntary: Some(reply.involuntary),
        read_bytes: known(reply.read_bytes),
        written_bytes: known(reply.written_bytes),
        storage_read_bytes: known(reply.storage_read_bytes),
        storage_written_bytes: known(reply.storage_written_bytes),
        strays: u32::try_from(reply.strays).unwrap_or(u32::MAX),
    }
}

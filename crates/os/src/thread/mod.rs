//! Where a thread runs and how readily it is given a processor.
//!
//! The same hand-over between two threads takes 1 µs on one CPU and 23 µs across two, so a benchmark that leaves
//! placement to chance measures chance. And a machine shared with others gives a measurement fair time only if it
//! may ask for it: on Linux `nice` acts only inside one session (autogroup, sched(7)), which is why raising the
//! priority alone often does nothing.
//!
//! CPUs have one numbering in this crate: Linux's own, and on Windows `64 × processor group + number`.
//!
//! Contract of the platform files: `pin_current` returns only when the thread is on one of the CPUs;
//! `current_affinity` is what the system enforces, not what was asked for.

mod cpu_set;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

use std::io;

pub use cpu_set::{CpuSet, ParseCpuSetError};

use crate::support::Unsupported;

/// How readily the scheduler prefers a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// What a program gets that asks for nothing.
    Normal,
    /// Ahead of ordinary programs: nice −10, `ABOVE_NORMAL_PRIORITY_CLASS`.
    Raised,
    /// As far ahead as is possible without real-time scheduling: nice −20, `HIGH_PRIORITY_CLASS`.
    High,
    /// Ahead of everything that is not real-time: `SCHED_FIFO` at its lowest level, `REALTIME_PRIORITY_CLASS`.
    Realtime,
}

/// Restricts the calling thread (and the threads it starts later) to `cpus`, and moves it there.
///
/// # Errors
/// `InvalidInput` for an empty set, or on Windows for CPUs of more than one processor group; the system's
/// error when none of the CPUs exists or is allowed (sched_setaffinity(2), `SetThreadGroupAffinity`).
pub fn pin_current(cpus: &CpuSet) -> io::Result<()> {
    if cpus.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no CPU was named to run on",
        ));
    }
    imp::pin_current(cpus)
}

/// The CPUs that the calling thread may use. CPUs that are offline or forbidden (cgroup cpuset, job) are not in it.
///
/// # Errors
/// The system's error; none is known for a running thread.
pub fn current_affinity() -> io::Result<CpuSet> {
    imp::current_affinity()
}

/// The CPU that the calling thread is running on. Stale as soon as it returns, unless the thread is pinned.
#[inline]
pub fn current_cpu() -> usize {
    imp::current_cpu()
}

/// The identity that the system knows the calling thread by (gettid(2), `GetCurrentThreadId`).
pub fn current_id() -> u32 {
    imp::current_id()
}

/// Gives up the processor once (sched_yield(2), `SwitchToThread`).
pub fn yield_now() {
    std::thread::yield_now();
}

/// Frees this process from sharing its CPU time with the session that it was started from, and returns the nice
/// value that its own scheduling group obtained (−20 at best).
///
/// Linux groups processes by session and divides CPU time between the groups (sched(7), "The autogroup
/// feature"). The caller must have become a session leader first (setsid(2)): writing
/// to the group of a shared session would favour all the neighbours as well. Threads and children share the group.
///
/// # Errors
/// The reason: not Linux, autogroup not in use, the session shared, or not permitted.
pub fn leave_autogroup() -> Result<i32, Unsupported> {
    imp::leave_autogroup()
}

/// Sets the nice value of the calling thread, −20 (most favoured) to 19, and returns the value in force afterwards.
///
/// Linux: a per-thread value, inherited by the threads and processes it starts (setpriority(2)). Windows has only
/// classes: the value is mapped to the priority class of the *process*, and the nice value that class stands for is returned.
///
/// # Errors
/// The system's error, `PermissionDenied` when a lower value is asked for than the user may have.
pub fn set_nice(nice: i32) -> io::Result<i32> {
    imp::set_nice(nice.clamp(-20, 19))
}

/// Asks for a priority and takes what can be had: the level granted is returned. Never fails, since measuring at normal
/// priority is better than not measuring.
pub fn raise_priority(wanted: Priority) -> Priority {
    match wanted {
        Priority::Realtime if imp::set_realtime().is_ok() => Priority::Realtime,
        Priority::Realtime => raise_priority(Priority::High),
        Priority::High if set_nice(-20).is_ok_and(|nice| nice <= -20) => Priority::High,
        Priority::High | Priority::Raised if set_nice(-10).is_ok_and(|nice| nice <= -10) => Priority::Raised,
        _ => Priority::Normal,
    }
}

#[cfg(test)]
mod tests;

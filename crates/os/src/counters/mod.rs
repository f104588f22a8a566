//! What the system counts about a process, a thread, and itself.
//!
//! Time alone says that something is slow, counters say why: voluntary switches are waiting (locks, pipes),
//! involuntary ones are being pushed aside, run-queue wait is time in which the program wanted a processor and got none,
//! faults are memory being handed out. Read before and after, and subtract with `since`.
//!
//! Three traps, and what is done about them here:
//!
//! - `ru_maxrss` survives exec, so a fresh program seems to have peaked at the size of whoever started it
//!   (getrusage(2)); the peak here is that of the present address space (`VmHWM`).
//! - The kernel may split user from system time by sampling at its tick. Below about 100 ms of CPU time believe
//!   only `cpu_ns`, which is exact.
//! - Reading must not disturb a heap that is being measured: on Linux nothing is allocated.
//!
//! Contract of the platform files: a field that cannot be had is `None`, never zero, and `*_gaps`
//! has a reason for it. Sizes are bytes, times nanoseconds, counts since the process (thread, system) began.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;
#[cfg(windows)]
mod nt_records;
#[cfg(target_os = "linux")]
mod proc_files;
#[cfg(target_os = "linux")]
mod throttle;

use std::io;

use crate::support::{Gap, Unsupported};

/// Counters of this process, with all its threads, living and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessCounters {
    /// All context switches away from the process's threads. Windows: of the threads that live now.
    pub context_switches: Option<u64>,
    /// Switches because a thread waited for something (getrusage(2) `ru_nvcsw`). Linux only.
    pub voluntary: Option<u64>,
    /// Switches because the scheduler preferred another thread (`ru_nivcsw`). Linux only.
    pub involuntary: Option<u64>,
    /// CPU time in the program's own code; see the module about its precision.
    pub user_ns: u64,
    /// CPU time in the kernel on the program's behalf; see the module about its precision.
    pub system_ns: u64,
    /// All CPU time. Linux: exact (`CLOCK_PROCESS_CPUTIME_ID`). Windows: the sum of the two above, in clock ticks.
    pub cpu_ns: u64,
    /// All CPU time of the children that ended and were waited for (getrusage(2) with `RUSAGE_CHILDREN`). Linux only.
    pub children_cpu_ns: Option<u64>,
    /// Processor cycles, exact, in ticks of the time-stamp counter (`QueryProcessCycleTime`). Windows only.
    pub cycles: Option<u64>,
    /// Page faults served without reading from storage.
    pub minor_faults: Option<u64>,
    /// Page faults that had to wait for storage.
    pub major_faults: Option<u64>,
    /// The largest resident size of this address space since it was made or [`reset_peak_rss`] succeeded.
    pub peak_rss_bytes: u64,
    /// The resident size now.
    pub current_rss_bytes: u64,
    /// Time in which threads were ready to run and had no processor, summed over the threads that live *now*
    /// (/proc/self/task/*/schedstat): read it while they live, or add up [`ThreadCounters`] as they end. Linux only.
    pub runqueue_wait_ns: Option<u64>,
}

impl ProcessCounters {
    /// Reads all of them. Linux: about 30 µs, 4 µs more for each further thread, no allocation. Windows: some
    /// milliseconds, because the list of all processes has to be asked for.
    ///
    /// # Errors
    /// The system's error, when /proc is not mounted or cannot be read.
    pub fn read() -> io::Result<Self> {
        imp::process()
    }

    /// What happened after `earlier`: counts and times are differences; the two sizes are those of `self`.
    ///
    /// `runqueue_wait_ns` is `None` if the sum has become smaller, which happens when threads ended in between.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            context_switches: minus(self.context_switches, earlier.context_switches),
            voluntary: minus(self.voluntary, earlier.voluntary),
            involuntary: minus(self.involuntary, earlier.involuntary),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            children_cpu_ns: minus(self.children_cpu_ns, earlier.children_cpu_ns),
            cycles: minus(self.cycles, earlier.cycles),
            minor_faults: minus(self.minor_faults, earlier.minor_faults),
            major_faults: minus(self.major_faults, earlier.major_faults),
            peak_rss_bytes: self.peak_rss_bytes,
            current_rss_bytes: self.current_rss_bytes,
            runqueue_wait_ns: minus(self.runqueue_wait_ns, earlier.runqueue_wait_ns),
        }
    }

    /// The fields that are `None` here, each with the reason.
    pub fn gaps(&self) -> Vec<Gap> {
        imp::process_gaps(self)
    }
}

/// Sets the peak resident size back to the current one, so that the next peak is that of the next piece of work.
/// Returns whether that was possible (Linux with `CONFIG_PROC_PAGE_MONITOR`: writes 5 to /proc/self/clear_refs,
/// proc_pid_clear_refs(5); Windows keeps the peak for the life of the process).
pub fn reset_peak_rss() -> bool {
    imp::reset_peak_rss()
}

/// Counters of the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounters {
    /// All context switches away from the thread.
    pub context_switches: Option<u64>,
    /// Switches because the thread waited (getrusage(2) with `RUSAGE_THREAD`). Linux only.
    pub voluntary: Option<u64>,
    /// Switches because another thread was preferred. Linux only.
    pub involuntary: Option<u64>,
    /// CPU time. Linux: exact (`CLOCK_THREAD_CPUTIME_ID`). Windows: counted in clock ticks.
    pub cpu_ns: u64,
    /// Processor cycles, exact, in ticks of the time-stamp counter (`QueryThreadCycleTime`). Windows only.
    pub cycles: Option<u64>,
    /// Page faults served without reading from storage. Linux only.
    pub minor_faults: Option<u64>,
    /// Page faults that had to wait for storage. Linux only.
    pub major_faults: Option<u64>,
    /// Time in which the thread was ready to run and had no processor. Linux only.
    pub runqueue_wait_ns: Option<u64>,
    /// How often the thread was given a processor. Linux only.
    pub slices: Option<u64>,
}

impl ThreadCounters {
    /// Reads the counters of the calling thread. Linux: about 8 µs, no allocation.
    ///
    /// # Errors
    /// The system's error.
    pub fn read() -> io::Result<Self> {
        imp::thread()
    }

    /// What happened after `earlier`, which must have been read by the same thread.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            context_switches: minus(self.context_switches, earlier.context_switches),
            voluntary: minus(self.voluntary, earlier.voluntary),
            involuntary: minus(self.involuntary, earlier.involuntary),
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            cycles: minus(self.cycles, earlier.cycles),
            minor_faults: minus(self.minor_faults, earlier.minor_faults),
            major_faults: minus(self.major_faults, earlier.major_faults),
            runqueue_wait_ns: minus(self.runqueue_wait_ns, earlier.runqueue_wait_ns),
            slices: minus(self.slices, earlier.slices),
        }
    }

    /// The fields that are `None` here, each with the reason.
    pub fn gaps(&self) -> Vec<Gap> {
        imp::thread_gaps(self)
    }
}

/// Counters of the whole machine (in a container: usually of the host that carries it), for telling what others
/// did meanwhile. CPU times are summed over all CPUs and come in steps of the kernel's accounting tick (10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemCounters {
    /// Context switches of all CPUs. Windows counts in 32 bits, so a span in which it overflowed yields `None`.
    pub context_switches: Option<u64>,
    /// Interrupts served.
    pub interrupts: Option<u64>,
    /// CPU time of programs and the kernel, interrupts included, steal excluded.
    pub cpu_busy_ns: Option<u64>,
    /// Time in which no CPU had anything to do, waiting for storage included.
    pub cpu_idle_ns: Option<u64>,
    /// Time that the hypervisor gave to other guests while a CPU of ours wanted to run. Linux only, and only if the hypervisor tells.
    pub cpu_steal_ns: Option<u64>,
    /// Processes and threads started. Linux only.
    pub forks: Option<u64>,
}

impl SystemCounters {
    /// Reads the machine's counters (/proc/stat; `NtQuerySystemInformation`).
    ///
    /// # Errors
    /// The system's error, when /proc cannot be read or the call is refused.
    pub fn read() -> io::Result<Self> {
        imp::system()
    }

    /// What happened after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            context_switches: minus(self.context_switches, earlier.context_switches),
            interrupts: minus(self.interrupts, earlier.interrupts),
            cpu_busy_ns: minus(self.cpu_busy_ns, earlier.cpu_busy_ns),
            cpu_idle_ns: minus(self.cpu_idle_ns, earlier.cpu_idle_ns),
            cpu_steal_ns: minus(self.cpu_steal_ns, earlier.cpu_steal_ns),
            forks: minus(self.forks, earlier.forks),
        }
    }

    /// The fields that are `None` here, each with the reason.
    pub fn gaps(&self) -> Vec<Gap> {
        imp::system_gaps(self)
    }
}

/// How often and how long a CPU quota has held this process's group back (container limits, `cpu.max`, job rate).
///
/// A throttled program stands still for tens of milliseconds at a time; no wall time of such a period
/// says anything about the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Quota periods in which the group ran.
    pub periods: u64,
    /// Periods in which the group used up its quota and had to wait.
    pub throttled_periods: u64,
    /// Time held back, summed over the CPUs.
    pub throttled_ns: u64,
}

impl Throttling {
    /// Reads the throttling of our own cgroup and of all groups above it that we can see, added up.
    ///
    /// # Errors
    /// The reason: no CPU controller governs this process, or not Linux.
    pub fn read() -> Result<Self, Unsupported> {
        imp::throttling()
    }

    /// What happened after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(earlier.periods),
            throttled_periods: self.throttled_periods.saturating_sub(earlier.throttled_periods),
            throttled_ns: self.throttled_ns.saturating_sub(earlier.throttled_ns),
        }
    }
}

fn minus(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    later?.checked_sub(earlier?)
}

#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
mod tests_linux;

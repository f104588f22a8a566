//! What became of a command and what it cost.

/// How a command ended, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it cost.
    pub usage: Usage,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code: 0 to 255 on Linux, any 32-bit number on Windows.
    Exited(i64),
    /// By a signal; on Windows by an exception (`signal` is its NTSTATUS code, such as 0xC0000005).
    Signaled {
        /// The signal's number.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
    /// We ended it because its time was over.
    TimedOut,
    /// We ended it where its visit was to end.
    Stopped,
}

impl End {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// What a command cost.
///
/// "The tree" is the command with those descendants that it waited for (Linux: wait4(2)), or with all that
/// ran in its job (Windows).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Life of the command itself in nanoseconds of the monotonic clock: from just before its exec (Linux, read by the new
    /// process itself) or the call that makes it (Windows) to the notice that it is gone. What the process did before its exec
    /// is in none of these figures.
    pub wall_ns: u64,
    /// CPU time of the tree in user mode, nanoseconds. Linux gives the sum exactly and splits it by clock
    /// ticks, Windows counts both by ticks: below 100 ms only the sum means anything. Unknown where the system
    /// does not count it for other processes, as Wine does not (it answers with the asker's own time).
    pub user_ns: Option<u64>,
    /// CPU time of the tree in the kernel, likewise.
    pub system_ns: Option<u64>,
    /// CPU time of the tree in nanoseconds, from the most precise source that covers it: to the nanosecond
    /// for a single thread on Linux, to two microseconds otherwise; by cycles where Windows counts them.
    /// Unknown where none of them counts.
    pub cpu_ns: Option<u64>,
    /// How long the command's main thread was ready to run and had no CPU, in nanoseconds
    /// (`/proc/PID/schedstat`). Other threads and children are not in it: the kernel forgets theirs.
    pub runqueue_wait_ns: Option<u64>,
    /// Peak resident size in bytes: the largest of any single process in the tree (Linux, where the kernel
    /// counts in batches and may be off by up to 128 KiB per CPU), or the job's peak of committed memory
    /// (Windows; the command's own peak working set where jobs do not count).
    pub peak_rss_bytes: Option<u64>,
    /// True when the peak is not above what the command inherits from its launcher, so that the true one
    /// may be anything up to it: print it with "≤".
    pub peak_rss_is_upper_bound: bool,
    /// Page faults that needed no I/O; on Windows, which does not tell them apart, all of them.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for I/O.
    pub major_faults: Option<u64>,
    /// Context switches because the command waited for something.
    pub voluntary: Option<u64>,
    /// Context switches because another thread was to run.
    pub involuntary: Option<u64>,
    /// Bytes that passed through read calls, from whatever source (Linux: `rchar`).
    pub read_bytes: Option<u64>,
    /// Bytes that passed through write calls, to whatever target (Linux: `wchar`).
    pub written_bytes: Option<u64>,
    /// Bytes that storage had to deliver.
    pub storage_read_bytes: Option<u64>,
    /// Bytes that are to be stored.
    pub storage_written_bytes: Option<u64>,
    /// Descendants that still ran when the command was gone; they have been ended.
    pub strays: u32,
}

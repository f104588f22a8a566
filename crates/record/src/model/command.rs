//! Timing of other people's commands: blocks of interleaved runs and what they prove.
//!
//! The unit is the block: every arm once, in an order drawn at random. Blocks are kept raw, with position and
//! seed, so that any later analysis stays possible.

/// How one run of a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited by itself with this status.
    Exited(i64),
    /// A signal ended it.
    Signaled(i32),
    /// It was ended because its time was up.
    TimedOut,
    /// It was ended at the place to which it was to be timed.
    Stopped,
}

impl End {
    /// Whether it did what it was started for.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0) | Self::Stopped)
    }
}

/// What is counted for every run of a command. `None` where the platform cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Wall time from just before the start to the exit, in microseconds.
    ToExit,
    /// Wall time from the program's being in memory to its first instruction, in microseconds.
    ToEntry,
    /// The same to its function `main`.
    ToMain,
    /// Wall time less the time spent waiting for a processor, in microseconds.
    Running,
    /// Processor time of the command and the children it waited for, in microseconds.
    Cpu,
    /// Processor time in user mode, in microseconds; the kernel splits by ticks.
    User,
    /// Processor time in the kernel, in microseconds; the kernel splits by ticks.
    System,
    /// Peak resident set, in bytes.
    PeakRss,
    /// Memory at the end of the span that belongs to the process alone and is not as in any file, in bytes.
    PrivateDirty,
    /// Page faults served without input or output.
    MinorFaults,
    /// Page faults that had to read.
    MajorFaults,
    /// Context switches, voluntary and involuntary together.
    ContextSwitches,
    /// Voluntary context switches.
    Voluntary,
    /// Involuntary context switches.
    Involuntary,
}

impl Metric {
    /// Every metric, the primary one first.
    pub const ALL: [Self; 14] = [
        Self::ToExit,
        Self::ToEntry,
        Self::ToMain,
        Self::Running,
        Self::Cpu,
        Self::User,
        Self::System,
        Self::PeakRss,
        Self::PrivateDirty,
        Self::MinorFaults,
        Self::MajorFaults,
        Self::ContextSwitches,
        Self::Voluntary,
        Self::Involuntary,
    ];

    /// The name in JSON, in the store and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToExit => "to_exit_us",
            Self::ToEntry => "to_entry_us",
            Self::ToMain => "to_main_us",
            Self::Running => "running_us",
            Self::Cpu => "cpu_us",
            Self::User => "user_us",
            Self::System => "system_us",
            Self::PeakRss => "peak_rss_bytes",
            Self::PrivateDirty => "private_dirty_bytes",
            Self::MinorFaults => "minor_faults",
            Self::MajorFaults => "major_faults",
            Self::ContextSwitches => "context_switches",
            Self::Voluntary => "voluntary_switches",
            Self::Involuntary => "involuntary_switches",
        }
    }

    /// The metric of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// One run of one arm within a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Index into [`Session::arms`].
    pub arm: usize,
    /// Place within the block, from 0.
    pub position: usize,
    /// How it ended.
    pub end: End,
    /// What was counted.
    pub values: Vec<(Metric, f64)>,
    /// True when the peak RSS is only an upper bound, because the launcher's own size hides the command's.
    pub peak_rss_is_upper_bound: bool,
    /// Processes that outlived the command and were ended.
    pub strays: u32,
}

impl Entry {
    /// One counted value.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.values
            .iter()
            .find(|(key, _)| *key == metric)
            .map(|(_, value)| *value)
    }
}

/// Every arm that was still in the race, once each, in random order.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// From 0, in the order of execution.
    pub index: u32,
    /// The seed of the block's order and of its environment offset.
    pub seed: u64,
    /// The stage it belongs to: `measure`, `screen`, `race` or `confirm`.
    pub stage: String,
    /// The runs, in the order of execution.
    pub entries: Vec<Entry>,
}

/// What an arm of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmKind {
    /// The command that the others are compared with.
    Baseline,
    /// The same command again: shows what the noise alone does.
    Again,
    /// A command that is compared with the baseline.
    Candidate,
}

/// One of the commands of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionArm {
    /// Its name in tables: the command itself, or a remedy.
    pub name: String,
    /// The command with its arguments, lossily as text.
    pub command: Vec<String>,
    /// Its part in the comparison.
    pub kind: ArmKind,
}

/// All blocks of one invocation of `time` or `tune`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The arms, the baseline first.
    pub arms: Vec<SessionArm>,
    /// The blocks in the order of execution.
    pub blocks: Vec<Block>,
}

/// One word for what a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The whole interval lies below 1.
    Faster,
    /// The whole interval lies above 1.
    Slower,
    /// The whole interval lies within the margin around 1.
    Equivalent,
    /// The budget ended first.
    Undecided,
}

impl Verdict {
    /// The word in tables and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }

    /// The verdict of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Faster, Self::Slower, Self::Equivalent, Self::Undecided]
            .into_iter()
            .find(|v| v.word() == word)
    }
}

/// An effect ratio (candidate / baseline) with its interval and the verdict that follows from it alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was compared.
    pub metric: Metric,
    /// Index of the candidate in [`Session::arms`].
    pub arm: usize,
    /// exp of the Hodges-Lehmann median of the log ratios.
    pub ratio: f64,
    /// Lower end of the confidence sequence; 0 when nothing can be said yet.
    pub low: f64,
    /// Upper end of the confidence sequence; infinite when nothing can be said yet.
    pub high: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Number of blocks behind it.
    pub blocks: usize,
    /// For an undecided comparison: the smallest relative effect that these blocks could have shown.
    pub smallest_detectable: Option<f64>,
    /// Two-sided p-value of the sign-flip test; only for a run count fixed beforehand.
    pub sign_flip_p: Option<f64>,
    /// Fixed-n signed-rank interval of the ratio; only for a run count fixed beforehand.
    pub fixed_n: Option<(f64, f64)>,
}

/// What the noise alone does to the ratio of the command to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// Point estimate.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

//! How far a command's start is followed, and when it got there.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A place in the start of a program.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The first instruction of the program itself: the loader has done its work, and the constructors of the libraries have
    /// run. A program that relocates itself (static-pie) still has that before it.
    Entry,
    /// An address that is found in the program's file, as the linker wrote it there; `None` where the file has none.
    Found(fn(&Path) -> Option<u64>),
}

/// How a command is visited.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// Where to look.
    pub place: Place,
    /// Ends the command when so many of the programs that it became have reached the place, the first being 1. Without it
    /// the command is followed to its end, or until `settle` has passed since the last arrival.
    pub stop_at: Option<u32>,
    /// Without `stop_at`: how long after an arrival the command may still become another program.
    pub settle: Duration,
    /// With `stop_at`: called with the process's number when it has arrived and before it is ended; it stands still meanwhile.
    pub at_last: Option<fn(u32)>,
}

impl Visit {
    /// To the entry of the command's so-many-th program, and no further.
    #[must_use]
    pub const fn to_entry(programs: u32) -> Self {
        Self {
            place: Place::Entry,
            stop_at: Some(programs),
            settle: Duration::ZERO,
            at_last: None,
        }
    }
}

/// Whose the memory of a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that nobody else uses.
    pub private: u64,
    /// Bytes that other processes use as well.
    pub shared: u64,
    /// The private ones, and of the shared ones its share among those who use them (`Pss`).
    pub proportional: u64,
}

/// One of the programs that the command became, and when it reached the place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The program.
    pub exe: PathBuf,
    /// Nanoseconds of the monotonic clock from the moment at which the first program was in memory (Linux: the stop after its
    /// exec; Windows: the notice that the process was made) to the arrival, less the time in which the command stood
    /// still because of us. `None` when it never got there.
    pub ns: Option<u64>,
    /// Page faults without input or output in the same span. Linux only.
    pub minor_faults: Option<u64>,
    /// Page faults that had to read. Linux only.
    pub major_faults: Option<u64>,
    /// Memory at the arrival that belongs to this process alone and is not as in any file, in bytes
    /// (`Private_Dirty` of proc_pid_smaps_rollup(5)). Linux only.
    pub private_dirty_bytes: Option<u64>,
}

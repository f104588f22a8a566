//! What `underhood` and its launcher say to each other.
//!
//! The two talk over one stream socket, which is the launcher's standard input. Both sides compile this very
//! file, so they can only disagree when somebody starts a launcher of another version: the magic number of
//! the first message tells.
//!
//! ```text
//! launcher   Hello                                         once, before anything else
//! underhood  Request{RUN}   + four descriptors + block     stdin, stdout, stderr, working directory
//! underhood  Request{CANCEL}                               at any time; ignored when nothing runs
//! launcher   Reply                                         one for each RUN, also for a cancelled one
//! ```
//!
//! The block is: the CPU mask (`mask_bytes`, a multiple of 8, zero bytes = the mask the launcher was started with), the path to
//! execute, `argc` arguments, `envc` environment entries, every string ended by a zero byte.
//!
//! Every message is a row of native 64-bit words; no layout is left to the compiler.

/// Identifies the protocol and its version; change the last digit with any change to this file.
pub const MAGIC: u64 = 0x756e_6465_7268_0001;

/// Ask for a run.
pub const OP_RUN: u64 = 1;
/// End the run that is going on, with all its descendants.
pub const OP_CANCEL: u64 = 2;

/// How many descriptors come with [`OP_RUN`].
pub const RUN_DESCRIPTORS: usize = 4;

/// The largest block that a launcher accepts, in bytes: beyond the kernel's own limit for arguments
/// (6 MiB with the usual stack limit), so that it is the kernel that answers E2BIG.
pub const MAX_BLOCK: u64 = 64 << 20;

/// In place of a time limit in nanoseconds: none.
pub const NO_TIMEOUT: u64 = u64::MAX;

/// The run ended: the exec succeeded and the command is gone.
pub const KIND_ENDED: u64 = 1;
/// The command could not be started: `errno` and `stage` tell why.
pub const KIND_FAILED: u64 = 2;
/// The command was started and could not be ended: a descendant resists SIGKILL.
pub const KIND_STUCK: u64 = 3;

/// Where a start failed: setting the CPUs.
pub const STAGE_AFFINITY: u64 = 1;
/// Where a start failed: making the process.
pub const STAGE_CLONE: u64 = 2;
/// Where a start failed: entering the working directory.
pub const STAGE_DIRECTORY: u64 = 3;
/// Where a start failed: placing the standard streams.
pub const STAGE_STREAMS: u64 = 4;
/// Where a start failed: execve itself.
pub const STAGE_EXEC: u64 = 5;
/// Where a start failed: reading the request (no memory, or malformed).
pub const STAGE_REQUEST: u64 = 6;

/// The launcher can walk the tree of its descendants (`/proc/PID/task/TID/children`).
pub const CAN_WALK: u64 = 1;
/// The launcher adopts orphans (`PR_SET_CHILD_SUBREAPER`).
pub const CAN_ADOPT: u64 = 2;
/// The kernel counts run-queue wait (`/proc/PID/schedstat`).
pub const CAN_SCHEDSTAT: u64 = 4;
/// The kernel counts bytes read and written (`/proc/PID/io`).
pub const CAN_IO: u64 = 8;

/// In place of a counter that the kernel does not give.
pub const UNKNOWN: u64 = u64::MAX;

/// Declares a message: named words in a fixed order, to bytes and back.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_doc])* pub $field: u64),* }

        impl $name {
            /// Words in the message.
            pub const WORDS: usize = [$(stringify!($field)),*].len();
            /// Bytes in the message.
            pub const BYTES: usize = Self::WORDS * 8;

            /// The message as it goes over the socket.
            #[must_use]
            pub fn to_bytes(self) -> [u8; Self::BYTES] {
                let words = [$(self.$field),*];
                let mut bytes = [0; Self::BYTES];
                for (to, from) in bytes.chunks_exact_mut(8).zip(words) {
                    to.copy_from_slice(&from.to_ne_bytes());
                }
                bytes
            }

            /// The message that these bytes hold.
            #[must_use]
            pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
                let mut words = bytes.chunks_exact(8).map(|chunk| {
                    let mut word = [0; 8];
                    word.copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                });
                Self { $($field: words.next().unwrap_or_default()),* }
            }
        }
    };
}

message! {
    /// The launcher's first words.
    Hello {
        /// [`MAGIC`].
        magic,
        /// Set of the `CAN_` bits.
        can,
        /// The launcher's own peak resident size in bytes: no peak below it can be told apart.
        floor_bytes,
    }
}

message! {
    /// What `underhood` asks for.
    Request {
        /// [`MAGIC`].
        magic,
        /// [`OP_RUN`] or [`OP_CANCEL`].
        op,
        /// Bytes of the block that follows.
        block_bytes,
        /// Bytes of the CPU mask at the start of the block.
        mask_bytes,
        /// Arguments in the block, the zeroth included.
        argc,
        /// Environment entries in the block.
        envc,
        /// Time limit in nanoseconds, or [`NO_TIMEOUT`].
        timeout_ns,
        /// Time between SIGTERM and SIGKILL in nanoseconds.
        grace_ns,
    }
}

message! {
    /// What became of a run.
    Reply {
        /// One of the `KIND_` numbers.
        kind,
        /// One of the `STAGE_` numbers when the start failed.
        stage,
        /// The errno when the start failed.
        errno,
        /// The command's status word as wait4 gives it.
        status,
        /// 1 when the time limit ended it.
        timed_out,
        /// 1 when a CANCEL ended it.
        cancelled,
        /// From just before clone to the exit notification, nanoseconds of CLOCK_MONOTONIC.
        wall_ns,
        /// User CPU time, microseconds, with the descendants that the command waited for.
        user_us,
        /// System CPU time, likewise.
        system_us,
        /// CPU time of the command's main thread in nanoseconds, or [`UNKNOWN`].
        main_cpu_ns,
        /// Time that the command's main thread waited for a CPU in nanoseconds, or [`UNKNOWN`].
        main_wait_ns,
        /// Peak resident size in bytes.
        peak_rss_bytes,
        /// The launcher's own peak in bytes, which the command's peak cannot be below.
        floor_bytes,
        /// Page faults without I/O.
        minor_faults,
        /// Page faults with I/O.
        major_faults,
        /// Switches because the command waited.
        voluntary,
        /// Switches because something else ran.
        involuntary,
        /// Bytes that went through read calls, or [`UNKNOWN`].
        read_bytes,
        /// Bytes that went through write calls, or [`UNKNOWN`].
        written_bytes,
        /// Bytes fetched from storage, or [`UNKNOWN`].
        storage_read_bytes,
        /// Bytes sent to storage, or [`UNKNOWN`].
        storage_written_bytes,
        /// Descendants that were still running when the command was gone.
        strays,
        /// Descendants that could not be ended.
        leftover,
    }
}

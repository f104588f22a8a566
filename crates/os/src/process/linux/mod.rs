//! Linux: runs by way of the launcher program, observation by ptrace.

mod block;
mod breakpoint;
mod failure;
mod guide;
mod handle;
mod inspect;
mod launcher;
mod link_map;
mod maps;
mod observe;
mod ptrace;
mod search;
mod socket;
mod standing;
mod streams;
mod tracer;

// One file for both sides of the socket, so that they cannot drift apart.
#[expect(
    dead_code,
    reason = "the file is both sides'; each writes half of the messages and reads the other half"
)]
#[path = "../../../../launcher/src/protocol.rs"]
mod protocol;

/// Whether a process with this number exists.
pub fn exists(pid: u32) -> bool {
    std::path::Path::new("/proc").join(pid.to_string()).exists()
}

/// See [`super::memory`].
pub fn memory(pid: u32) -> Option<super::Memory> {
    inspect::memory(pid.cast_signed())
}

pub use launcher::Launcher;
pub use observe::{observe, visit};
pub use standing::Standing;

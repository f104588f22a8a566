//! Everything that Underhood asks of an operating system, and the only place where it knows which one it runs on.
//!
//! One folder is one topic. Its `mod.rs` is the contract: what a caller may rely on, on every system. Beside it lie
//! `linux.rs` and `windows.rs` with the same functions, so that the two ways of doing one thing are compared
//! in one place. What a system cannot do is said at run time, as an [`Unsupported`] with a reason; the rest of the
//! workspace asks for facts and never for the name of the system.

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("Underhood runs on Linux and on Windows; another system needs a file beside each linux.rs");

#[cfg(target_os = "linux")]
mod cgroup;
pub mod clock;
pub mod counters;
pub mod dirs;
pub mod files;
pub mod heap;
pub mod host;
pub mod library;
pub mod loader;
pub mod locale;
pub mod mapping;
pub mod memory;
pub mod page_cache;
pub mod process;
pub mod signal;
pub mod start;
mod support;
pub mod thread;
mod timer;
pub mod topology;

pub use support::{Gap, Unsupported};

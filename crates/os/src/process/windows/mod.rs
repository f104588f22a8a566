//! Windows: every command in a job object of its own, observation by the debugging interface.

mod command_line;
mod create;
mod debug;
mod exists;
mod failure;
mod guide;
mod job;
mod launcher;
mod observe;
mod search;
mod streams;
mod usage;

pub use exists::exists;
pub use launcher::Launcher;
pub use observe::{observe, visit};

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
mod standing;
mod streams;
mod usage;

pub use exists::exists;
/// Windows tells what is private and what is shared page by page only.
pub const fn memory(_pid: u32) -> Option<super::Memory> {
    None
}

pub use launcher::Launcher;
pub use observe::{observe, visit};
pub use standing::Standing;

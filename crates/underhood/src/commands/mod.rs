//! One file a command: its arguments and what it does.

pub mod completions;
pub mod exec;
pub mod image;
pub mod list;
pub mod man;
pub mod measure;
pub mod report;
pub mod runs;
pub mod select;
pub mod time;
pub mod tune;

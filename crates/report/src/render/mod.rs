//! Renderers: a report becomes text. Each file is one form; none knows what the report is about.

mod chart;
pub mod csv;
mod layout;
pub mod markdown;
mod plain;
pub mod terminal;

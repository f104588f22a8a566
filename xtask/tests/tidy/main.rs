//! Rules that no compiler checks, as tests. Each message says what to do.
//!
//! One file a rule. A rule with exceptions keeps them in a table with their reasons: an exception is
//! made by adding a row, in review, and an unused row is a failure too.

mod calls;
mod dependencies;
mod files;
mod length;
mod links;
mod platform;
mod text;
mod unsafe_code;
mod vocabulary;

use std::path::Path;

/// Fails with all complaints at once: one run shows everything that is to be done.
#[track_caller]
fn complain(complaints: &[String], remedy: &str) {
    assert!(complaints.is_empty(), "\n{}\n\n{remedy}\n", complaints.join("\n"));
}

/// `PATH:LINE`, as editors understand it.
fn at(path: &Path, line_index: usize) -> String {
    format!("{}:{}", path.display(), line_index + 1)
}

//! Reports as their readers see them, against stored texts, and with values that no run should hold.
//!
//! `UNDERHOOD_REGENERATE=1 cargo test -p underhood-report` writes the texts anew; then read the difference.

mod inspect;
mod odd;
mod samples;
mod snapshots;

//! Records in, a report out, then text for whoever reads it.
//!
//! A report is a plain value ([`document::Report`]): sentences, tables, charts, warnings. It is made from records
//! alone, so a run made on Windows is reported on Linux and a run of last year like one of today. A renderer turns
//! the value into text and knows nothing of benchmarks; a new renderer is one new file below [`render`], a new kind
//! of report is one new file here.
//!
//! | report | of |
//! |---|---|
//! | [`measure`] | a run of benchmarks |
//! | [`time`] | timings of commands |
//! | [`tune`] | the fate of remedies |
//! | [`list`], [`runs`] | what there is |

pub mod bound;
pub mod date;
pub mod document;
pub mod image;
pub mod inspect;
pub mod list;
pub mod measure;
mod parts;
pub mod quantity;
pub mod render;
pub mod rewrite;
pub mod runs;
pub mod time;
pub mod tune;
pub mod verdict;

use record::model::{Run, RunKind};

use document::Report;

/// The report of a run of any kind; with `details` nothing is left out for brevity.
#[must_use]
pub fn of(run: &Run, details: bool) -> Report {
    match run.kind {
        RunKind::Measure => measure::report(run, details),
        RunKind::Time => time::report(run, details),
        RunKind::Tune => tune::report(run, details),
    }
}

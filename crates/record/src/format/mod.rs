//! The versioned JSON documents of docs/FORMAT.md.
//!
//! A document is a promise to programs that other people wrote, the model is not: the model may be
//! rearranged whenever the code gets better for it, a document only grows. So each document has wire types of
//! its own, one file each, made from the model by `Document::of`. Additions are free; anything else needs a
//! new number in `schema`.
//!
//! Rules that hold in all of them:
//!
//! * A figure that does not exist is `null`, never NaN, never an infinity (JSON has neither) and never 0.
//! * A key that the schema names is always present.
//! * Seeds are strings: they use all 64 bits, and many readers keep only 53 of a number.

pub mod bound;
mod common;
pub mod environment;
pub mod hyperfine;
pub mod image;
pub mod inspect;
pub mod list;
pub mod rewrite;
pub mod run;
pub mod runs;
pub mod time;
pub mod tune;

pub use common::{Number, Ordered, WarningDoc, to_text};

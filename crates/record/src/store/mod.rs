//! The SQLite file that keeps runs with their raw samples.
//!
//! A run may last for hours and may be killed at any instant, several may run at once, and the disk may be full,
//! read-only or on another machine. So:
//!
//! * Results are written as they come, each in a short transaction of its own. What was written stays, whatever
//!   happens next; a run whose process was killed is found as `open`.
//! * The journal is a rollback journal, not a write-ahead log. A write-ahead log needs memory shared between
//!   processes, which network homes do not give, cannot be opened on read-only media, and leaves two more files
//!   beside the store. Its gain, readers that do not wait for writers, is worth nothing here: a write takes
//!   milliseconds.
//! * A file that is not ours, is damaged, or was written by a newer Underhood is refused and never changed.
//! * Every error says what to do. Callers turn it into a warning: failing to record never fails a run.
//!
//! | file | content |
//! |---|---|
//! | `schema` | the tables, drawn |
//! | `open` | opening, creating, refusing |
//! | `write` | recording step by step, finishing, deleting |
//! | `rows` | the model as rows |
//! | `text` | small values in columns |
//! | `read` | listing and loading |
//! | `columns` | compressed columns of numbers |
//! | `budget` | how much a file may make us hold |
//! | `error` | what can go wrong, with advice |

mod budget;
mod columns;
mod error;
mod open;
mod read;
mod rows;
mod schema;
mod text;
mod write;

pub use crate::model::RunId;
pub use error::StoreError;
pub use open::Store;
pub use read::Filter;

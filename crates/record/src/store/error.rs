//! What can go wrong with a store, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::model::RunId;

/// Why the store could not be used. The texts read after "failed to".
#[derive(Debug, Error)]
pub enum StoreError {
    /// Its folder could not be made.
    #[error(
        "create folder {path} for the store: {source}; name another file with --store, or use --no-store"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such file, or it may not be opened.
    #[error(
        "open store {path}: {detail}; check that the file exists and may be read, or name another with --store"
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The file belongs to some other program.
    #[error(
        "open store {path}: it is not an Underhood store ({detail}) and was left as it is; name another file with \
         --store, or move this one away"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        detail: String,
    },
    /// The file was written by a newer Underhood.
    #[error(
        "open store {path}: it has format {found}, this Underhood knows formats up to {known} and left it as it is; \
         use a newer Underhood, or name another file with --store"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest that this program can read.
        known: i64,
    },
    /// The file was ours and is broken.
    #[error(
        "read store {path}: it is damaged ({detail}) and was left as it is; move it away to start a new one, or save \
         what can be saved with `sqlite3 {path} .recover`"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process kept the store locked for longer than we wait.
    #[error(
        "use store {path}: another process has kept it locked for {waited_s} s; end that process, or name another file with --store"
    )]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long we waited, in seconds.
        waited_s: u64,
    },
    /// No room on the disk.
    #[error(
        "write store {path}: no space left on the disk; free some, or name a file on another disk with --store"
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder may not be written.
    #[error("write store {path}: it may only be read; name another file with --store, or use --no-store")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file system failed or cannot lock.
    #[error(
        "use store {path}: the file system reported an error or cannot lock files ({detail}); on a network folder, \
         name a file on a local disk with --store"
    )]
    FileSystem {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// No run has this number.
    #[error("find run {id} in store {path}: there is none; `underhood runs` lists what there is")]
    NoSuchRun {
        /// The file.
        path: PathBuf,
        /// The number.
        id: RunId,
    },
    /// What was to be stored makes no sense or is too large.
    #[error("store run: {detail}; this is a mistake in Underhood, please report it")]
    Unfit {
        /// What is wrong with it.
        detail: String,
    },
    /// Anything else that SQLite says.
    #[error("use store {path}: {detail}; name another file with --store, or use --no-store")]
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
}

/// How long a process waits for another one's write, in seconds. A write takes milliseconds, so this much means
/// that the other process is stopped or that the file system's locks do not work.
pub(super) const BUSY_SECONDS: u64 = 10;

/// Turns SQLite's errors into ours by adding the file's name.
pub(super) fn explain(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy {
            path,
            waited_s: BUSY_SECONDS,
        },
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied,
        ) => StoreError::CannotOpen { path, detail },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, detail },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            StoreError::Damaged { path, detail }
        }
        Some(
            ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport,
        ) => StoreError::FileSystem { path, detail },
        // A column that holds another type than the schema says, or text that is not UTF-8.
        None => StoreError::Damaged { path, detail },
        Some(_) => StoreError::Other { path, detail },
    }
}

//! Opening a store, creating one, and refusing what is none.
//!
//! Two processes may create the same store at the same instant, so the decision "this file is empty, I make the
//! tables" is taken inside a write transaction: the second one finds the tables of the first. A process that is
//! killed while creating leaves an empty file and a journal, which the next one rolls back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::{BUSY_SECONDS, StoreError, explain};
use super::schema::{APPLICATION_ID, FORMAT, TABLES};

/// The longest text or blob that we read or write, in bytes; 32 Mi samples of one trial.
const LONGEST: i32 = 256 << 20;

/// An open store.
///
/// One connection, for use by one thread at a time; other threads and processes open stores of their own. Nothing
/// is left beside the file after the store was dropped.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

/// What a file turned out to be.
enum Found {
    /// A store that this program reads and writes.
    Ours,
    /// Nothing yet.
    Empty,
}

impl Store {
    /// Opens a store for reading and writing, and creates it (and its folder, for the user alone) where there is
    /// none. A file that may only be read is opened too; writing to it then fails.
    ///
    /// # Errors
    /// When the file is not a store, is damaged, was written by a newer version, or cannot be opened or created.
    /// The file is unchanged then.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        make_folder(path)?;
        let mut store = Self::connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )?;
        if let Found::Empty = store.identify()? {
            store.create()?;
        }
        Ok(store)
    }

    /// Opens an existing store for reading.
    ///
    /// # Errors
    /// When there is none, or for the reasons of [`Store::open`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        // Not SQLite's own read-only mode: after a writer was killed the first reader must be able to roll its
        // journal back. Where that is impossible (read-only media) SQLite falls back by itself.
        let mut store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.pragma("query_only", true)?;
        match store.identify()? {
            Found::Ours => Ok(store),
            Found::Empty => Err(StoreError::CannotOpen {
                path: path.to_owned(),
                detail: "it is empty".to_owned(),
            }),
        }
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole file and checks that it is sound; takes seconds for a store of a gigabyte.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first faults found.
    pub fn verify(&self) -> Result<(), StoreError> {
        let rows = self
            .connection
            .prepare("PRAGMA integrity_check(10)")
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| row.get::<_, String>(0))?
                    .collect::<Result<Vec<_>, _>>()
            });
        match rows.map_err(|error| explain(&self.path, error))?.as_slice() {
            [one] if one == "ok" => Ok(()),
            faults => Err(StoreError::Damaged {
                path: self.path.clone(),
                detail: faults.join("; "),
            }),
        }
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let wrap = |error| explain(path, error);
        let connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(wrap)?;
        connection
            .busy_timeout(Duration::from_secs(BUSY_SECONDS))
            .map_err(wrap)?;
        connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)
            .map_err(wrap)?;
        // The file may come from anywhere: nothing in it may run, and a wrong page is noticed when it is read.
        for (setting, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        ] {
            connection.set_db_config(setting, on).map_err(wrap)?;
        }
        let store = Self {
            connection,
            path: path.to_owned(),
        };
        store.pragma("cell_size_check", true)?;
        // A committed result survives a power cut, too.
        store.pragma("synchronous", "FULL")?;
        // Nothing of ours is ever written to a folder for temporary files.
        store.pragma("temp_store", "MEMORY")?;
        Ok(store)
    }

    fn pragma(&self, name: &str, value: impl rusqlite::ToSql) -> Result<(), StoreError> {
        self.connection
            .pragma_update(None, name, value)
            .map_err(|error| explain(&self.path, error))
    }

    fn identify(&mut self) -> Result<Found, StoreError> {
        let path = self.path.clone();
        // One transaction, so that version and tables belong together even while another process creates them.
        let transaction = self
            .connection
            .transaction()
            .map_err(|error| explain(&path, error))?;
        look(&transaction, &path)
    }

    fn create(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let wrap = |error| explain(&path, error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(wrap)?;
        if let Found::Ours = look(&transaction, &path)? {
            return Ok(());
        }
        for (_, statement) in TABLES {
            transaction.execute(statement, []).map_err(wrap)?;
        }
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(wrap)?;
        transaction
            .pragma_update(None, "user_version", FORMAT)
            .map_err(wrap)?;
        transaction.commit().map_err(wrap)
    }
}

/// Makes the folder of a store when there is none, readable by the user alone: command lines may hold secrets.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // On Windows the user's data folder is private by the rights that it passes on.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| StoreError::Folder {
        path: folder.to_owned(),
        source,
    })
}

fn look(transaction: &Transaction<'_>, path: &Path) -> Result<Found, StoreError> {
    let wrap = |error| explain(path, error);
    let number = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(wrap)?;
    let version = number("user_version").map_err(wrap)?;
    let tables = tables(transaction).map_err(wrap)?;
    let path = path.to_owned();
    match (application, version) {
        (0, 0) if tables.is_empty() => Ok(Found::Empty),
        (APPLICATION_ID, FORMAT) => {
            let expected = TABLES
                .iter()
                .map(|(name, sql)| ((*name).to_owned(), (*sql).to_owned()));
            let mut expected: Vec<(String, String)> = expected.collect();
            expected.sort();
            if tables == expected {
                Ok(Found::Ours)
            } else {
                Err(StoreError::Damaged {
                    path,
                    detail: "its tables are not those of its format".to_owned(),
                })
            }
        }
        (APPLICATION_ID, found) if found > FORMAT => Err(StoreError::Newer {
            path,
            found,
            known: FORMAT,
        }),
        (APPLICATION_ID, found) => Err(StoreError::Damaged {
            path,
            detail: format!("there never was a format {found}"),
        }),
        (other, _) => {
            let detail = format!(
                "an SQLite file with application id {other} and {} tables",
                tables.len()
            );
            Err(StoreError::Foreign { path, detail })
        }
    }
}

/// Everything in the file that is not SQLite's own, sorted by name; no more than we could have made ourselves.
fn tables(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = transaction.prepare(
        "SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 64",
    )?;
    let mut rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    rows.sort();
    Ok(rows)
}

//! The tables of the store. This is the whole schema; nothing else makes or changes a table.
//!
//! ```text
//! run 1───n fact                        the host, in order
//!     1───n unsupported                 cases that could not run
//!     1───n warning                     of the run (source 'run') and of tune (source 'tuning')
//!     1───n measurement 1───n metric    a case, and what its trials say together
//!                       1───n trial 1───n trial_value
//!     1───n arm                         commands of a session (0: of `time`, 1: of `tune`)
//!     1───n block 1───n entry 1───n entry_value
//!     1───n comparison                  role: 'run', 'effect', 'also' (of a tune_arm), 'confirmed'
//!     1───1 tuning
//!     1───n tune_arm                    a remedy and its fate
//! ```
//!
//! Every row below `run` carries the run's number and its own place (`ordinal`) among its siblings, from 0; both
//! together are its key, so rows come back in the order of the model without sorting, and the same tables work
//! in any other database (SQL names and types are those that PostgreSQL has too, apart from `BLOB`).
//!
//! Conventions: seeds are 64 bits kept in a signed column; a list of words is a JSON array; a figure that is not a
//! number is `NULL`; columns of samples are described in `columns`.

/// "uhd1": tells our files from other SQLite files (SQLite's header, offset 68).
pub(super) const APPLICATION_ID: i64 = 0x7568_6431;

/// The format that this program writes (SQLite's `user_version`).
pub(super) const FORMAT: i64 = 1;

/// The number of the session of `time`.
pub(super) const OF_TIME: i64 = 0;

/// The number of the session within `tune`.
pub(super) const OF_TUNE: i64 = 1;

/// The tables below `run`, to empty them for one run.
pub(super) const PARTS: [&str; 14] = [
    "fact",
    "unsupported",
    "warning",
    "measurement",
    "metric",
    "trial",
    "trial_value",
    "arm",
    "block",
    "entry",
    "entry_value",
    "comparison",
    "tuning",
    "tune_arm",
];

/// One statement for each table, as it stands in `sqlite_schema` once executed.
pub(super) const TABLES: [(&str, &str); 15] = [
    (
        "run",
        "CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    started_unix REAL,
    seed INTEGER NOT NULL,
    arguments TEXT NOT NULL,
    what TEXT NOT NULL,
    host TEXT NOT NULL,
    has_session INTEGER NOT NULL,
    clock_name TEXT,
    clock_resolution_ns REAL,
    clock_cost_ns REAL,
    clock_reason TEXT
) STRICT",
    ),
    (
        "fact",
        "CREATE TABLE fact (
    run INTEGER NOT NULL REFERENCES run (id),
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "unsupported",
        "CREATE TABLE unsupported (
    run INTEGER NOT NULL REFERENCES run (id),
    ordinal INTEGER NOT NULL,
    case_name TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "warning",
        "CREATE TABLE warning (
    run INTEGER NOT NULL REFERENCES run (id),
    source TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    code TEXT NOT NULL,
    advice TEXT NOT NULL,
    PRIMARY KEY (run, source, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "measurement",
        "CREATE TABLE measurement (
    run INTEGER NOT NULL REFERENCES run (id),
    ordinal INTEGER NOT NULL,
    case_name TEXT NOT NULL,
    suite TEXT NOT NULL,
    benchmark TEXT NOT NULL,
    parameters TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "metric",
        "CREATE TABLE metric (
    run INTEGER NOT NULL REFERENCES run (id),
    measurement INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    estimate REAL,
    low REAL,
    high REAL,
    min REAL,
    trials INTEGER NOT NULL,
    predicted REAL,
    PRIMARY KEY (run, measurement, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "trial",
        "CREATE TABLE trial (
    run INTEGER NOT NULL REFERENCES run (id),
    measurement INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    position INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    contaminated TEXT,
    samples_count INTEGER NOT NULL,
    samples BLOB NOT NULL,
    course_count INTEGER NOT NULL,
    course BLOB NOT NULL,
    PRIMARY KEY (run, measurement, ordinal)
) STRICT",
    ),
    (
        "trial_value",
        "CREATE TABLE trial_value (
    run INTEGER NOT NULL REFERENCES run (id),
    measurement INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (run, measurement, trial, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "arm",
        "CREATE TABLE arm (
    run INTEGER NOT NULL REFERENCES run (id),
    session INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    command TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (run, session, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "block",
        "CREATE TABLE block (
    run INTEGER NOT NULL REFERENCES run (id),
    session INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    block_index INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    stage TEXT NOT NULL,
    PRIMARY KEY (run, session, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "entry",
        "CREATE TABLE entry (
    run INTEGER NOT NULL REFERENCES run (id),
    session INTEGER NOT NULL,
    block INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    position INTEGER NOT NULL,
    ended TEXT NOT NULL,
    code INTEGER NOT NULL,
    upper_bound INTEGER NOT NULL,
    strays INTEGER NOT NULL,
    PRIMARY KEY (run, session, block, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "entry_value",
        "CREATE TABLE entry_value (
    run INTEGER NOT NULL REFERENCES run (id),
    session INTEGER NOT NULL,
    block INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    metric TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (run, session, block, entry, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "comparison",
        "CREATE TABLE comparison (
    run INTEGER NOT NULL REFERENCES run (id),
    role TEXT NOT NULL,
    owner INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    metric TEXT NOT NULL,
    arm INTEGER NOT NULL,
    ratio REAL,
    low REAL,
    high REAL,
    verdict TEXT NOT NULL,
    blocks INTEGER NOT NULL,
    smallest_detectable REAL,
    sign_flip_p REAL,
    fixed_low REAL,
    fixed_high REAL,
    PRIMARY KEY (run, role, owner, ordinal)
) STRICT, WITHOUT ROWID",
    ),
    (
        "tuning",
        "CREATE TABLE tuning (
    run INTEGER NOT NULL REFERENCES run (id),
    command TEXT NOT NULL,
    goal TEXT NOT NULL,
    has_noise INTEGER NOT NULL,
    noise_ratio REAL,
    noise_low REAL,
    noise_high REAL,
    winner TEXT,
    sentence TEXT NOT NULL,
    PRIMARY KEY (run)
) STRICT, WITHOUT ROWID",
    ),
    (
        "tune_arm",
        "CREATE TABLE tune_arm (
    run INTEGER NOT NULL REFERENCES run (id),
    ordinal INTEGER NOT NULL,
    remedy TEXT NOT NULL,
    arm INTEGER,
    state TEXT NOT NULL,
    reason TEXT,
    in_effect INTEGER,
    output_identical INTEGER,
    runs INTEGER NOT NULL,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_below_run_is_emptied_with_it() {
        let below: Vec<&str> = TABLES
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| *name != "run")
            .collect();
        assert_eq!(below, PARTS);
        assert_eq!(APPLICATION_ID.to_be_bytes()[4..], *b"uhd1");
    }
}

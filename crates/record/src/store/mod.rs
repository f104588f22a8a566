//! The SQLite file that keeps runs with their raw samples.

//! The report of an PE file.

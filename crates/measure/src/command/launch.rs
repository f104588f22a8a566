//! The arm runner that starts real processes.

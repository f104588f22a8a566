//! Commands on Windows: exit codes, failures, streams, accounts, and that no descendant is left.
#![cfg(windows)]

mod observe;
mod roles;
mod run;

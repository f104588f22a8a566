//! Starting commands: every way to begin, to fail and to end, what is counted, and that nothing is left.
#![cfg(target_os = "linux")]

mod account;
mod cost;
mod interrupt;
mod launch;
mod observe;
mod standing;
mod support;
mod visit;

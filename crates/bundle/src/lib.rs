//! Carries, inside the one binary that people install, the files that must exist on their own at run time.
//!
//! A trial needs a worker process, commands need the launcher, a bound copy needs a guard, and a preloaded heap needs a
//! path to a shared library. `build.rs` builds these and puts them here; [`unpack`] writes one to
//! the user's cache and returns its path. The cache is shared by all runs, by several versions of
//! Underhood, and by programs that are still running with a library from it, so:
//!
//! - each file lies in a folder named by its SHA-256: versions never meet;
//! - a file is written under another name, synced, then renamed: it is complete or absent;
//! - it is compared with what we carry at every use, and replaced (never written over) when it differs;
//! - what we are about to execute must not be replaceable by someone else: folders that others
//!   own or may write to are refused.

mod artifact;
mod mount;
mod place;
mod unpack;

pub use artifact::{Artifact, Kind, artifacts, find};
pub use unpack::{UnpackError, unpack, unpack_below};

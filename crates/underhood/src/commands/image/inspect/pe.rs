//! `image inspect` of PE files.

use super::Args;
use crate::context::Context;
use crate::exit::{Done, Failure, UNSUPPORTED};

/// Inspects one file.
pub fn run(_args: &Args, _bytes: &[u8], _context: &Context) -> Result<Done, Failure> {
    Err(Failure::new(UNSUPPORTED, "inspect this kind of file"))
}

//! What is in PE files.

use serde::{Deserialize, Serialize};

/// One file, and with `--closure` all that it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {}

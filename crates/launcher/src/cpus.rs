//! The CPUs that a command may use.
//!
//! A child inherits them from us, so that it starts where it is to run. Changing them in the child, as others
//! do, moves it to another CPU in the middle of its measured start.

use crate::sys::{self, Errno};

/// Room for 8192 CPUs, the most that Linux can be built for.
const MASK_BYTES: usize = 1024;

/// The mask that we were started with, for commands that ask for none.
pub struct Cpus {
    original: [u8; MASK_BYTES],
    length: usize,
}

impl Cpus {
    /// Remembers the present mask.
    pub fn remember() -> Self {
        let mut original = [0; MASK_BYTES];
        let length = sys::affinity(&mut original).unwrap_or(0);
        Self { original, length }
    }

    /// Moves us to the CPUs of `mask`; empty stands for the original ones.
    pub fn take(&self, mask: &[u8]) -> Result<(), Errno> {
        let mask = if mask.is_empty() {
            self.original.get(..self.length).unwrap_or_default()
        } else {
            mask
        };
        let mut present = [0; MASK_BYTES];
        let length = sys::affinity(&mut present)?;
        let present = present.get(..length).unwrap_or_default();
        // The kernel's mask may be longer or shorter than the one asked for; what is missing is zero.
        let byte = |mask: &[u8], i| mask.get(i).copied().unwrap_or(0);
        let same = (0..present.len().max(mask.len())).all(|i| byte(present, i) == byte(mask, i));
        if same { Ok(()) } else { sys::set_affinity(mask) }
    }
}

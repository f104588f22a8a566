//! PE files (PE32 and PE32+) as the Windows loader reads them, a loader that runs anywhere, and the two tools of the article on
//! load time: REBASE and BIND.
//!
//! [`File`] is one file; [`imports`], [`delay`], [`bound`], [`exports`], [`fixups`] and [`tls`] read its tables. They read through
//! [`View`], so that the same code serves a file, where an address must be looked up in the section table, and an image in
//! memory, where it is an index. [`loader`] does what the NT loader of the article did, counts it and times it, and
//! [`loader::check`] is the judge of [`rebase`] and [`bind`].
//!
//! The format is described in Microsoft's "PE Format" (learn.microsoft.com/windows/win32/debug/pe-format); where the loader is more
//! lenient than the description, the loader is followed, since it is the one that decides what runs.
//!
//! Files may be hostile: nothing panics, and work and memory stay proportional to the size of the files ([`Budget`]).

pub mod bind;
pub mod bound;
pub mod checksum;
pub mod delay;
pub mod exports;
pub mod file;
pub mod fixups;
pub mod headers;
pub mod heap;
pub mod imports;
pub mod loader;
mod patch;
pub mod rebase;
pub mod tls;
pub mod view;

pub use file::File;
pub use headers::{Directory, Headers, Section};
pub use view::View;

/// Pages of Windows on every processor that it runs on today.
pub const PAGE: u32 = 4096;
/// Images lie at multiples of this (64 KiB).
pub const GRANULARITY: u64 = 0x1_0000;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is of another format.
    #[error("it is not a PE file (PE32 or PE32+)")]
    NotPe,
    /// It contradicts itself.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// How much more a file may make us do. A sound file has each entry once; a hostile one can point at the same table or the
/// same name from everywhere.
#[derive(Clone, Debug)]
pub struct Budget(u64);

impl Budget {
    /// For work on so many bytes of files.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self((bytes as u64).saturating_mul(64).saturating_add(1 << 16))
    }

    /// Pays for some steps, each a table entry or a character of a name.
    ///
    /// # Errors
    /// When the budget is exhausted: no sound file of this size gives so much work.
    pub fn spend(&mut self, steps: usize) -> Result<(), Unreadable> {
        self.0 = self
            .0
            .checked_sub(steps as u64)
            .ok_or(Unreadable::Damaged("its tables overlap"))?;
        Ok(())
    }
}

//! A loader for PE files that runs on any host: it does in memory what the NT loader of the article did, and counts and times it.
//!
//! [`Plan`] is a set of files by name, with the one to be loaded; [`Plan::load`] loads it once, [`Plan::repeat`] many times with every
//! result verified. What is loaded is never run.
//!
//! As NT did it:
//!
//! * An image gets its preferred base when that is free, otherwise the lowest free address (multiples of 64 KiB), and then all of its
//!   fixups are applied.
//! * Imports are walked depth first, in the order of the import table: a library is mapped, then its own imports are resolved, then
//!   the slots that wanted it are filled.
//! * A name is searched where the hint points, then by halving. A forwarded export is followed, which may load more libraries.
//! * When the imports from a library are bound, and the library has the stamp that it had then and lies at its preferred base, and so do
//!   all libraries that it forwards to, then the slots are left as they stand in the file.
//!
//! Libraries that are not in the set (`KERNEL32.dll`, …) belong to the system: each of their symbols gets an address that is made of
//! its name, and they are counted apart. No initialisation routine is run, and `DYNAMIC_BASE` is ignored unless
//! [`Options::dynamic_base`] asks for it.
//!
//! Two differences matter to who reads the times: an image is copied as a whole when it is mapped, where NT reads pages when they are
//! touched; so a page that a fixup dirties costs its write here, and a page fault and a private copy there. And there is no
//! disk. Times are good for comparing, not for predicting Windows.

pub mod check;
mod module;
mod plan;
mod repeat;
mod resolve;
mod snap;
pub mod space;
mod walk;

use std::ops::Range;

pub use module::Module;
pub(super) use module::map;
pub use plan::{Plan, library_key};
pub use repeat::Samples;

use super::Unreadable;

/// How to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Addresses that are taken before anything is loaded.
    pub occupied: Vec<Range<u64>>,
    /// Bound imports are honoured, as NT did and Wine does not.
    pub bound: bool,
    /// Hints are used.
    pub hints: bool,
    /// Libraries with `DYNAMIC_BASE` never get their preferred base, as on today's Windows.
    pub dynamic_base: bool,
}

impl Default for Options {
    /// The loader of the article.
    fn default() -> Self {
        Self {
            occupied: Vec::new(),
            bound: true,
            hints: true,
            dynamic_base: false,
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that were mapped, the root among them.
    pub modules: u64,
    /// Those that did not get their preferred base.
    pub moved: u64,
    /// Fixups that were applied.
    pub fixups: u64,
    /// Exports that were searched by name, in files of the set.
    pub names: u64,
    /// Comparisons of names in these searches.
    pub comparisons: u64,
    /// Searches that ended at the hint.
    pub hint_hits: u64,
    /// Exports that were found by number.
    pub ordinals: u64,
    /// Forwarders that were followed.
    pub forwarded: u64,
    /// Pairs of a file and a library whose binding held.
    pub bound: u64,
    /// Those whose binding did not hold any more.
    pub stale: u64,
    /// Slots that were written.
    pub written: u64,
    /// Those among them with an address of the system.
    pub system: u64,
    /// Pages of 4 KiB that fixups or slots dirtied.
    pub dirtied: u64,
    /// Those among them that fixups dirtied.
    pub fixup_pages: u64,
}

/// How long it took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Finding addresses and copying the files into place.
    pub map: u64,
    /// Applying fixups.
    pub fixups: u64,
    /// Finding libraries and filling slots.
    pub imports: u64,
    /// From the first to the last step.
    pub total: u64,
}

/// A loaded program or library with all that it needs.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What was mapped, in load order; the root is the first.
    pub modules: Vec<Module>,
    /// Libraries that are not in the set, in the order in which they were met, in lower case.
    pub system: Vec<Vec<u8>>,
    /// What was done.
    pub counts: Counts,
    /// How long it took.
    pub times: Times,
}

impl Loaded {
    /// A number that differs when an address or a byte of any image differs.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        for module in &self.modules {
            mix(module.base);
            for chunk in module.image.chunks(8) {
                let mut word = [0; 8];
                for (to, from) in word.iter_mut().zip(chunk) {
                    *to = *from;
                }
                mix(u64::from_le_bytes(word));
            }
        }
        hash
    }
}

/// Why something cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A file cannot be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: Unreadable,
    },
    /// The root is not among the files.
    #[error("{0} is not among the files")]
    NoRoot(String),
    /// Two files have one name.
    #[error("{0} is there twice")]
    Twice(String),
    /// A file for another processor.
    #[error("{file} is for another processor than {root}")]
    Mixed {
        /// The file.
        file: String,
        /// The root.
        root: String,
    },
    /// The images want much more memory than the files have bytes.
    #[error("the images take {wanted} bytes, and {limit} are the most for files of this size")]
    TooLarge {
        /// Bytes of images.
        wanted: u64,
        /// The limit.
        limit: u64,
    },
    /// A file without base relocations whose place is taken.
    #[error("{file} must lie at {base:#x}, which is taken, and its base relocations were stripped")]
    Fixed {
        /// The file.
        file: String,
        /// Where it must lie.
        base: u64,
    },
    /// The address space is full.
    #[error("there is no room for {file}")]
    Full {
        /// The file.
        file: String,
    },
    /// An import that the library does not export.
    #[error("{file} imports {symbol} from {library}, which does not export it")]
    NotExported {
        /// The importing file.
        file: String,
        /// The name, or `#` and the number.
        symbol: String,
        /// The library.
        library: String,
    },
    /// Forwarders that lead nowhere.
    #[error("{symbol} of {library} is forwarded in a circle, or to something that is no name")]
    Forwarder {
        /// The name, or `#` and the number.
        symbol: String,
        /// The library.
        library: String,
    },
    /// A repeated load had another result, which is an error of this loader.
    #[error("two loads of the same files differ")]
    Unstable,
}

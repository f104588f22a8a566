//! A program with everything that the loader will load for it, in its order, and how each file was found.
//!
//! The loader takes the program, then what `LD_PRELOAD` names, and goes through their needs, and the needs of these, breadth
//! first. A name that it knows already, by any of its names, is not searched again; a file that it has already, by device
//! and inode, is not loaded again. The resulting list is also the order in which symbols are searched.

use std::rc::Rc;

use object::elf;

use super::search::{File, Place};
use super::view::lossy;
use super::{Image, Unreadable};

pub use super::loading::load;

/// The file to begin with.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name, as the loader's messages would have it.
    pub path: String,
    /// Its real folder, for `$ORIGIN`.
    pub origin: String,
    /// Its content.
    pub file: File,
    /// The loader to assume for a library, which names none.
    pub interpreter: String,
}

/// The part that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The program itself.
    Program,
    /// The loader, which the kernel has mapped beside the program.
    Loader,
    /// Loaded because the user or the system wants it before all others.
    Preloaded,
    /// A needed library.
    Library,
}

/// One loaded file.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its path, as the loader's messages would have it.
    pub path: String,
    /// Its part.
    pub role: Role,
    /// Its content.
    pub bytes: Rc<Vec<u8>>,
    /// The object for which it was loaded first; none for the program and the loader.
    pub loaded_by: Option<usize>,
    /// What it needs, as indices of objects, without what is missing.
    pub needed: Vec<usize>,
    pub(super) identity: Option<(u64, u64)>,
    pub(super) names: Vec<String>,
    pub(super) origin: String,
    pub(super) wishes: Wishes,
    /// The lists of folders of its `DT_RPATH` and `DT_RUNPATH`, once they were used.
    pub(super) rpath: Option<Vec<usize>>,
    pub(super) runpath: Option<Vec<usize>>,
}

/// What an object asks of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    pub(super) soname: Option<String>,
    pub(super) needed: Vec<String>,
    pub(super) rpath: Option<String>,
    pub(super) runpath: Option<String>,
    pub(super) no_default: bool,
    pub(super) filters: bool,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A new object, by its index.
    Loaded(usize),
    /// An object that has this name already; nothing was searched.
    Known(usize),
    /// The file found is one that is loaded already under another name.
    SameFile(usize),
    /// Nothing was found: the program does not start.
    Missing,
    /// What was found cannot be loaded: the program does not start.
    Refused(String),
}

/// The search for one needed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The name.
    pub name: String,
    /// The object that needs it.
    pub needed_by: usize,
    /// The places that were looked at, in order.
    pub places: Vec<Place>,
    /// The end.
    pub ending: Ending,
}

impl Search {
    /// The object that the name led to.
    #[must_use]
    pub const fn found(&self) -> Option<usize> {
        match self.ending {
            Ending::Loaded(object) | Ending::Known(object) | Ending::SameFile(object) => Some(object),
            Ending::Missing | Ending::Refused(_) => None,
        }
    }
}

/// All that is loaded.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    /// The objects: the program, the loader, then all others in the order in which they are loaded.
    pub objects: Vec<Object>,
    /// Every search, in order.
    pub searches: Vec<Search>,
    /// The objects in the order in which symbols are searched in them.
    pub scope: Vec<usize>,
    /// The objects in the order in which they are relocated: those that need others after these.
    pub relocated: Vec<usize>,
    /// What this model of the loader leaves out and that concerns this program.
    pub notes: Vec<String>,
    /// All functions of all objects are bound at start (`LD_BIND_NOW`).
    pub bind_now: bool,
}

impl Object {
    pub(super) fn is_called(&self, name: &str) -> bool {
        (self.role != Role::Program && self.path == name)
            || self.names.iter().any(|known| known == name)
            || self.wishes.soname.as_deref() == Some(name)
    }
}

impl Wishes {
    pub(super) fn of(image: &Image<'_>) -> Result<Self, Unreadable> {
        let dynamic = &image.dynamic;
        let mut budget = image.budget();
        let mut text = |offset: u64| {
            let text = image.text(offset);
            budget.spend(text.len() as u64)?;
            Ok::<_, Unreadable>(lossy(text))
        };
        Ok(Self {
            soname: dynamic.soname.map(&mut text).transpose()?,
            rpath: dynamic.rpath.map(&mut text).transpose()?,
            runpath: dynamic.runpath.map(&mut text).transpose()?,
            needed: dynamic
                .needed
                .iter()
                .map(|&at| text(at))
                .collect::<Result<_, _>>()?,
            no_default: dynamic.flags_1 & elf::DF_1_NODEFLIB.0 != 0,
            filters: !dynamic.filters.is_empty(),
        })
    }
}

#[cfg(test)]
impl Object {
    /// An object of which only the needs matter.
    pub(super) fn bare(bytes: Rc<Vec<u8>>, needed: Vec<usize>) -> Self {
        Self {
            path: String::new(),
            role: Role::Library,
            bytes,
            loaded_by: None,
            needed,
            identity: None,
            names: Vec::new(),
            origin: String::new(),
            wishes: Wishes::default(),
            rpath: None,
            runpath: None,
        }
    }
}

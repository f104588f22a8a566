//! A copy of a program and its libraries that starts without relocating: each library at an address of its own, every symbol
//! whose place is known bound in the file.
//!
//! Three kinds of objects take part. Those that *move* get addresses that were chosen beforehand, so all that refers to them is
//! a number. The C library's own family and the loader *float*: the originals are used, where the kernel puts them, so that
//! their addresses stay random. What cannot be moved floats too. A reference to something that floats becomes a
//! [`Fill`]: the offset is known, the address is added at start, by code that the loader calls ([`super::moving::Call`]). No
//! symbol is searched for either.
//!
//! What remains for the loader as before: thread-local variables, variables that live in the program (`COPY`), functions that
//! choose an implementation at start, if they are in an object that moves, and functions that nothing defines yet.
//!
//! The order of the steps: [`Choice::of`] says what moves and how each reference is bound, [`Layout`] where each object comes
//! to lie, [`Choice::copies`] makes the files.

mod fates;
mod names;
mod set;
mod stays;

use super::Unreadable;
use super::closure::{Closure, Ending};
use super::lookup::Linker;
use super::moving::Immovable;
use super::search::Loader;
use super::view::lossy;

pub use fates::{Bind, Source};
pub use set::{Copied, Fill, Layout};
pub use stays::Stays;

/// Why a program cannot be bound at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// One of its files cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It has no libraries.
    #[error("it is statically linked: nothing is searched or bound when it starts")]
    Static,
    /// It does not start as it is.
    #[error("it does not start as it is: {0}")]
    Broken(String),
    /// The model of the loader leaves something out that concerns it.
    #[error("{0}")]
    NotModelled(String),
    /// The program's own file cannot be moved or changed.
    #[error("its own file cannot be changed: {0}")]
    Program(Stays),
    /// A library that was said to move does not.
    #[error("{0}: {1}")]
    Library(String, Immovable),
}

/// What happens with each object of a closure.
#[derive(Debug)]
pub struct Choice<'a> {
    closure: &'a Closure,
    linker: &'a Linker<'a>,
    /// Why an object floats; none for those that move.
    stays: Vec<Option<Stays>>,
    /// How the references of each object are bound, by address.
    binds: Vec<Vec<(u64, Bind)>>,
    texts: Vec<super::moving::Texts>,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Wishes<'a> {
    /// Whether symbols are bound; otherwise objects are only moved.
    pub bind: bool,
    /// The path that the copy of an object will have.
    pub path_of: &'a dyn Fn(usize) -> String,
    /// The path of the loader that the copy of the program asks for.
    pub interpreter: &'a str,
}

impl<'a> Choice<'a> {
    /// Decides.
    ///
    /// # Errors
    /// Why the program cannot be bound.
    pub fn of(
        closure: &'a Closure,
        linker: &'a Linker<'a>,
        loader: &Loader,
        wishes: Wishes<'_>,
    ) -> Result<Self, Refusal> {
        startable(closure, linker)?;
        let stays = stays::of(closure, linker)?;
        let mut choice = Self {
            closure,
            linker,
            binds: vec![Vec::new(); closure.objects.len()],
            texts: Vec::new(),
            stays,
        };
        if wishes.bind {
            choice.binds = fates::of(&choice)?;
        }
        choice.texts = names::of(&choice, loader, wishes);
        Ok(choice)
    }

    /// Why an object floats; none when it moves.
    #[must_use]
    pub fn stays(&self, object: usize) -> Option<&Stays> {
        self.stays.get(object)?.as_ref()
    }

    /// The objects that move, in the order of the closure.
    pub fn moving(&self) -> impl Iterator<Item = usize> {
        (0..self.stays.len()).filter(|&object| self.moves(object))
    }

    /// The objects that float.
    pub fn floating(&self) -> impl Iterator<Item = usize> {
        (0..self.stays.len()).filter(|&object| !self.moves(object))
    }

    fn moves(&self, object: usize) -> bool {
        self.stays.get(object).is_some_and(Option::is_none)
    }
}

/// Whether the loader would start the program, as far as the model knows.
fn startable(closure: &Closure, linker: &Linker<'_>) -> Result<(), Refusal> {
    if closure.objects.len() < 2 {
        return Err(Refusal::Static);
    }
    if let Some(note) = closure.notes.first() {
        return Err(Refusal::NotModelled(note.clone()));
    }
    for search in &closure.searches {
        let why = match &search.ending {
            Ending::Missing => format!("{} is not found", search.name),
            Ending::Refused(why) => format!("{}: {why}", search.name),
            Ending::Loaded(_) | Ending::Known(_) | Ending::SameFile(_) => continue,
        };
        return Err(Refusal::Broken(why));
    }
    if let Some(reason) = super::promises::broken(closure, linker).into_iter().next() {
        return Err(Refusal::Broken(reason));
    }
    // The copies are found by path and by their own names. Versions are checked by the name that the linker saw.
    for (by, (_, symbols)) in linker.tables().enumerate() {
        for (_, file) in symbols.versions.required_of_others() {
            let file = lossy(file);
            let mut searches = closure.searches.iter();
            let found = searches.find(|search| search.needed_by == by && search.name == file);
            let found = found.and_then(|search| closure.objects.get(search.found()?));
            if let Some(found) = found.filter(|found| found.wishes.soname.as_deref() != Some(&*file)) {
                return Err(Refusal::NotModelled(format!(
                    "certain versions of {} are required under the name {file}, which it does not give itself",
                    found.path
                )));
            }
        }
    }
    let mut missing = None;
    linker.resolve(&mut |resolution| {
        if resolution.target.is_none() && !resolution.weak && !resolution.lazy {
            missing.get_or_insert_with(|| lossy(resolution.name));
        }
    })?;
    match missing {
        Some(name) => Err(Refusal::Broken(format!("the symbol {name} is not found"))),
        None => Ok(()),
    }
}

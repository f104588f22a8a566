//! Resolving symbols as the loader does, and what each costs.
//!
//! A relocation that names a symbol makes the loader walk through the scope (the program, then its libraries, breadth first)
//! until one defines the name in the right version. That is where start-up time goes in programs of many libraries: the
//! product of names and libraries. Only the last name is remembered, so two relocations in a row for the same symbol cost one
//! search. Functions may be left until they are first called (lazy binding); these are resolved here as well, last, and marked.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use object::LittleEndian as LE;
use object::elf::Sym64;

use super::closure::{Closure, Role};
use super::hash::{Name, Steps, Table};
use super::matching::{Class, Search, is_definition, is_hidden, is_protected};
use super::rehash::Rehashed;
use super::relocations::{self, Kind, Relocation};
use super::symbols::{self, Binding, Symbols, Version};
use super::{Budget, Image, Unreadable};

/// A symbol of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The object, as an index in the closure.
    pub object: usize,
    /// The symbol, as an index in its table.
    pub symbol: u32,
}

/// Steps of one lookup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Libraries that were looked into.
    pub libraries: u64,
    /// Among them, those whose bloom filter said no at once.
    pub rejected: u64,
    /// Entries of hash chains.
    pub chain: u64,
    /// Comparisons of names.
    pub comparisons: u64,
}

/// How a relocation came to its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By a search.
    Searched,
    /// It is the same symbol as just before.
    Again,
    /// The symbol is the file's own (local or hidden), or there is none.
    Own,
}

/// One relocation with its symbol.
#[derive(Clone, Copy, Debug)]
pub struct Resolution<'a> {
    /// The object that is written to, as an index in the closure.
    pub object: usize,
    /// The place.
    pub relocation: Relocation,
    /// The name of the symbol that it asks for.
    pub name: &'a [u8],
    /// The version that it asks for.
    pub version: Option<&'a [u8]>,
    /// What it gets; none when nothing defines it.
    pub target: Option<Target>,
    /// Whether the loader does without, when nothing defines it.
    pub weak: bool,
    /// How it came to it.
    pub how: How,
    /// Whether the loader leaves it until the function is first called.
    pub lazy: bool,
    /// What the search took; nothing unless [`How::Searched`].
    pub cost: Cost,
}

pub(super) struct Linked<'a> {
    pub(super) image: Image<'a>,
    pub(super) symbols: Symbols<'a>,
}

/// The tables of all objects of a closure.
pub struct Linker<'a> {
    pub(super) closure: &'a Closure,
    pub(super) objects: Vec<Linked<'a>>,
    /// Symbols of which there is one for the whole process, as they are first met.
    pub(super) unique: RefCell<HashMap<&'a [u8], Target>>,
    budget: Cell<Budget>,
}

impl std::fmt::Debug for Linker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Linker").finish_non_exhaustive()
    }
}

impl<'a> Linker<'a> {
    /// Reads the tables of all objects.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn new(closure: &'a Closure) -> Result<Self, Unreadable> {
        let link = |bytes: &'a [u8]| {
            let image = Image::parse(bytes)?;
            let symbols = Symbols::read(&image)?;
            Ok(Linked { image, symbols })
        };
        let objects = closure.objects.iter().map(|object| link(&object.bytes));
        Ok(Self {
            closure,
            objects: objects.collect::<Result<_, Unreadable>>()?,
            unique: RefCell::default(),
            budget: Cell::new(Budget::of(
                closure
                    .objects
                    .iter()
                    .map(|object| object.bytes.len() as u64)
                    .sum(),
            )),
        })
    }

    /// The same objects as if all had the newer hash table: what the older ones cost is the difference. None when all have it.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn rehashed(&self) -> Result<Option<Self>, Unreadable> {
        let is_old = |linked: &Linked<'_>| matches!(linked.symbols.hash, Table::Sysv { .. });
        if !self.objects.iter().any(is_old) {
            return Ok(None);
        }
        let mut other = Self::new(self.closure)?;
        for linked in other.objects.iter_mut().filter(|linked| is_old(linked)) {
            linked.symbols.hash = Table::Rehashed(Rc::new(Rehashed::of(&linked.symbols)));
        }
        Ok(Some(other))
    }

    /// The tables of each object.
    pub(super) fn tables(&self) -> impl Iterator<Item = (&Image<'a>, &Symbols<'a>)> {
        self.objects.iter().map(|linked| (&linked.image, &linked.symbols))
    }

    /// The symbol of a target.
    #[must_use]
    pub fn symbol(&self, target: Target) -> Option<symbols::Symbol<'a>> {
        self.objects.get(target.object)?.symbols.get(target.symbol)
    }

    /// The first definition of a name in the scope, in any version: what the name means to a program that links to nothing in
    /// particular.
    ///
    /// # Errors
    /// When the tables are damaged.
    pub fn find(&self, name: &str) -> Result<Option<Target>, Unreadable> {
        let mut budget = self.budget.replace(Budget::of(0));
        for &object in &self.closure.scope {
            let Some(linked) = self.objects.get(object) else {
                continue;
            };
            let symbols = &linked.symbols;
            let mut found = None;
            let wanted = Name::new(name.as_bytes());
            symbols
                .hash
                .search(&wanted, &mut Steps::default(), &mut budget, |symbol, _| {
                    let is_it = symbols
                        .entry(symbol)
                        .is_some_and(|entry| is_definition(entry) && symbols.is_named(entry, wanted.bytes));
                    found = is_it.then_some(Target { object, symbol });
                    Ok(is_it)
                })?;
            if found.is_some() {
                self.budget.set(budget);
                return Ok(found);
            }
        }
        self.budget.set(budget);
        Ok(None)
    }

    /// Resolves everything, in the loader's order: first what is bound at start, object by object, then what may wait.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn resolve(&self, visit: &mut dyn FnMut(&Resolution<'a>)) -> Result<(), Unreadable> {
        self.unique.borrow_mut().clear();
        let is_loader = |object: usize| {
            self.closure
                .objects
                .get(object)
                .is_some_and(|object| object.role == Role::Loader)
        };
        // The loader has relocated itself, and binds its few functions again when all others are done.
        let (loader, others): (Vec<usize>, Vec<usize>) = self
            .closure
            .relocated
            .iter()
            .partition(|&&object| is_loader(object));
        for late in [false, true] {
            for &object in others.iter().chain(&loader) {
                self.relocate(object, late, is_loader(object), visit)?;
            }
        }
        Ok(())
    }

    fn relocate(
        &self,
        object: usize,
        late: bool,
        at_once: bool,
        visit: &mut dyn FnMut(&Resolution<'a>),
    ) -> Result<(), Unreadable> {
        let Some(linked) = self.objects.get(object) else {
            return Ok(());
        };
        let waits = !(self.closure.bind_now || linked.image.dynamic.bind_now || at_once);
        let mut last: Option<(u32, Class, Option<Target>)> = None;
        for relocation in relocations::unpacked(&linked.image)? {
            if matches!(relocation.kind, Kind::Relative | Kind::Irelative | Kind::None) {
                continue;
            }
            let lazy = waits && relocation.function && relocation.kind == Kind::JumpSlot;
            if lazy != late {
                continue;
            }
            let index = relocation.symbol;
            let Some(entry) = linked.symbols.entry(index) else {
                return Err(Unreadable::Damaged(
                    "a relocation asks for a symbol that is not there",
                ));
            };
            let class = Class::of(relocation.kind);
            let version = linked
                .symbols
                .versions
                .of(index)
                .filter(|version| version.hash != 0);
            let name = linked.symbols.name(entry);
            self.pay(1 + name.len() as u64)?;
            let mut resolution = Resolution {
                object,
                relocation,
                name,
                version: version.map(|version| version.name),
                target: None,
                weak: symbols::binding(entry) == Binding::Weak,
                how: How::Searched,
                lazy,
                cost: Cost::default(),
            };
            if symbols::binding(entry) == Binding::Local || is_hidden(entry) {
                resolution.how = How::Own;
                resolution.target = Some(Target {
                    object,
                    symbol: index,
                });
            } else if let Some((_, _, target)) =
                last.filter(|&(at, of, _)| (at, of) == (index, class) && !lazy)
            {
                resolution.how = How::Again;
                resolution.target = target;
            } else {
                let own = Target {
                    object,
                    symbol: index,
                };
                resolution.target = self.look_up(own, entry, name, version, class, &mut resolution.cost)?;
                last = Some((index, class, resolution.target));
            }
            visit(&resolution);
        }
        Ok(())
    }

    fn pay(&self, steps: u64) -> Result<(), Unreadable> {
        let mut budget = self.budget.replace(Budget::of(0));
        let paid = budget.spend(steps);
        self.budget.set(budget);
        paid
    }

    fn look_up(
        &self,
        own: Target,
        reference: &'a Sym64<LE>,
        name: &'a [u8],
        version: Option<Version<'a>>,
        class: Class,
        cost: &mut Cost,
    ) -> Result<Option<Target>, Unreadable> {
        let mut budget = self.budget.replace(Budget::of(0));
        let mut search = Search {
            linker: self,
            own,
            name: Name::new(name),
            version,
            cost,
            budget: &mut budget,
        };
        let mut found = search.scope(class)?;
        if is_protected(reference) && found.is_some_and(|found| found.object != own.object) {
            // A protected symbol is the file's own, whoever comes first; the loader searches again to be sure for data.
            let other = match class {
                Class::Defined => found,
                _ => search.scope(Class::Defined)?,
            };
            if other.is_some_and(|other| other.object != own.object) {
                found = Some(own);
            }
        }
        self.budget.set(budget);
        Ok(found)
    }
}

/// Sums over resolutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Searches.
    pub lookups: u64,
    /// Relocations for the same symbol as the one before.
    pub again: u64,
    /// Relocations for symbols of the file itself.
    pub own: u64,
    /// Relocations whose symbol nothing defines.
    pub unresolved: u64,
    /// Among them, those that are not weak: the loader reports an error when it comes to them.
    pub missing: u64,
    /// Steps of all searches.
    pub cost: Cost,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, resolution: &Resolution<'_>) {
        match resolution.how {
            How::Searched => self.lookups += 1,
            How::Again => self.again += 1,
            How::Own => self.own += 1,
        }
        self.unresolved += u64::from(resolution.target.is_none());
        self.missing += u64::from(resolution.target.is_none() && !resolution.weak);
        self.cost.add(resolution.cost);
    }
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.libraries += other.libraries;
        self.rejected += other.rejected;
        self.chain += other.chain;
        self.comparisons += other.comparisons;
    }
}

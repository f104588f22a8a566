//! One lookup: the walk through the scope, and what makes a symbol of a library the one that is looked for.
//!
//! The name alone does not: the version must fit, the kind of the relocation must allow it, and the library must offer it.

use object::LittleEndian as LE;
use object::elf::{self, Sym64};

use super::hash::{Name, Steps};
use super::lookup::{Cost, Linker, Target};
use super::relocations::Kind;
use super::symbols::{self, Binding, Symbols, Version};
use super::{Budget, Unreadable};

/// What may answer a lookup, by the type of the relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Any,
    /// Functions and thread-local variables: a program's own entry for a library's function does not count.
    Defined,
    /// The program is where the variable is copied to.
    NotProgram,
}

impl Class {
    pub(super) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::JumpSlot => Self::Defined,
            Kind::Copy => Self::NotProgram,
            _ if kind.is_tls() => Self::Defined,
            _ => Self::Any,
        }
    }
}

/// One lookup.
pub(super) struct Search<'s, 'a> {
    pub(super) linker: &'s Linker<'a>,
    pub(super) own: Target,
    pub(super) name: Name<'a>,
    pub(super) version: Option<Version<'a>>,
    pub(super) cost: &'s mut Cost,
    pub(super) budget: &'s mut Budget,
}

impl<'a> Search<'_, 'a> {
    /// The object itself first if it was linked so (`DT_SYMBOLIC`; the program never), then the scope.
    pub(super) fn scope(&mut self, class: Class) -> Result<Option<Target>, Unreadable> {
        let linker = self.linker;
        let symbolic = self.own.object != 0
            && linker
                .objects
                .get(self.own.object)
                .is_some_and(|own| own.image.dynamic.symbolic);
        if symbolic && let Some(found) = self.object(self.own.object, class)? {
            return Ok(Some(found));
        }
        for &object in &linker.closure.scope {
            if let Some(found) = self.object(object, class)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn object(&mut self, object: usize, class: Class) -> Result<Option<Target>, Unreadable> {
        let linker = self.linker;
        let Some(linked) = linker.objects.get(object) else {
            return Ok(None);
        };
        if class == Class::NotProgram && object == 0 {
            return Ok(None);
        }
        self.cost.libraries += 1;
        let symbols = &linked.symbols;
        let mut steps = Steps::default();
        let mut found = None;
        // A lookup without version accepts the only version there is, if it is one that others may see.
        let (mut versions, mut only) = (0, None);
        let (name, version, cost) = (&self.name, self.version, &mut *self.cost);
        let is_self = |symbol| object == self.own.object && symbol == self.own.symbol;
        symbols
            .hash
            .search(name, &mut steps, self.budget, |symbol, budget| {
                let Some(entry) = symbols.entry(symbol) else {
                    return Ok(false);
                };
                if !may_match(entry, class) {
                    return Ok(false);
                }
                if !is_self(symbol) {
                    cost.comparisons += 1;
                    budget.spend(name.bytes.len() as u64)?;
                    if !symbols.is_named(entry, name.bytes) {
                        return Ok(false);
                    }
                }
                let fits = match fits(symbols, symbol, version) {
                    Fit::Yes => true,
                    Fit::No => false,
                    Fit::OnlyIfAlone => {
                        versions += 1;
                        only = only.or(Some(symbol));
                        false
                    }
                };
                if fits {
                    found = Some(symbol);
                }
                Ok(fits)
            })?;
        self.cost.rejected += u64::from(steps.rejected);
        self.cost.chain += steps.chain;
        let Some(symbol) = found.or(only.filter(|_| versions == 1)) else {
            return Ok(None);
        };
        let Some(entry) = symbols.entry(symbol).filter(|entry| !is_hidden(entry)) else {
            return Ok(None);
        };
        let target = Target { object, symbol };
        match symbols::binding(entry) {
            Binding::Global | Binding::Weak => Ok(Some(target)),
            Binding::Unique => Ok(Some(self.unique(target, class))),
            Binding::Local | Binding::Other => Ok(None),
        }
    }

    /// The one symbol of this name in the process. When the program holds a copy of it, that is the one.
    fn unique(&self, target: Target, class: Class) -> Target {
        let mut table = self.linker.unique.borrow_mut();
        match table.get(self.name.bytes) {
            Some(&first) if class != Class::NotProgram => first,
            Some(_) => target,
            None => {
                let first = if class == Class::NotProgram {
                    self.own
                } else {
                    target
                };
                table.insert(self.name.bytes, first);
                target
            }
        }
    }
}

enum Fit {
    Yes,
    No,
    OnlyIfAlone,
}

/// Whether a symbol of the right name is of the right version.
fn fits(symbols: &Symbols<'_>, symbol: u32, wanted: Option<Version<'_>>) -> Fit {
    /// The first two versions of a library, which those get who ask for none.
    const OLDEST: u16 = 2;
    if !symbols.versions.exist() {
        return Fit::Yes;
    }
    let (number, hidden) = symbols.versions.number(symbol);
    let Some(wanted) = wanted else {
        return match (number > OLDEST, hidden) {
            (false, _) => Fit::Yes,
            (true, true) => Fit::No,
            (true, false) => Fit::OnlyIfAlone,
        };
    };
    let has = symbols.versions.of(symbol);
    let same = has.is_some_and(|has| has.hash == wanted.hash && has.name == wanted.name);
    // An unversioned definition serves all who do not insist.
    let unversioned = has.is_none_or(|has| has.hash == 0) && !wanted.hidden && !hidden;
    if same || unversioned { Fit::Yes } else { Fit::No }
}

/// Whether a symbol can be a definition at all, before its name is looked at.
fn may_match(entry: &Sym64<LE>, class: Class) -> bool {
    let kind = entry.st_type();
    let section = entry.st_shndx.get(LE);
    let nowhere = entry.st_value.get(LE) == 0 && section != elf::SHN_ABS && kind != elf::STT_TLS;
    let borrowed = class == Class::Defined && section == elf::SHN_UNDEF;
    let known = matches!(
        kind,
        elf::STT_NOTYPE
            | elf::STT_OBJECT
            | elf::STT_FUNC
            | elf::STT_COMMON
            | elf::STT_TLS
            | elf::STT_GNU_IFUNC
    );
    known && !nowhere && !borrowed
}

pub(super) fn is_definition(entry: &Sym64<LE>) -> bool {
    entry.st_shndx.get(LE) != elf::SHN_UNDEF && may_match(entry, Class::Defined) && !is_hidden(entry)
}

pub(super) fn is_hidden(entry: &Sym64<LE>) -> bool {
    matches!(entry.st_visibility(), elf::STV_HIDDEN | elf::STV_INTERNAL)
}

pub(super) fn is_protected(entry: &Sym64<LE>) -> bool {
    entry.st_visibility() == elf::STV_PROTECTED
}

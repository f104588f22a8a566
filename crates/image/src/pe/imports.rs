//! What a file takes from libraries.
//!
//! One descriptor a library names two parallel lists: the names (or numbers) to be looked up, and the slots that the loader fills
//! with addresses, the import address table. Before loading both have the same content, which is what makes binding possible:
//! the slots may be filled beforehand, and the names are still there in case that the addresses turn out to be wrong.

use object::pe;

use super::view::entry;
use super::{Budget, Headers, Unreadable, View};

/// Bytes of a descriptor.
pub(super) const DESCRIPTOR: u32 = 20;
/// In a descriptor's stamp: see the directory of bound imports.
pub const BOUND: u32 = u32::MAX;
/// In a descriptor's chain: no slot is forwarded.
pub const NO_CHAIN: u32 = u32::MAX;

/// A descriptor as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The RVA of the names; 0 when only the slots have them.
    pub lookup: u32,
    /// 0 when not bound, [`BOUND`] for the new kind of binding, else the library's stamp (the old kind).
    pub stamp: u32,
    /// With the old kind: the first slot that is forwarded, whose content is the number of the next; [`NO_CHAIN`] for none.
    pub chain: u32,
    /// The RVA of the library's name.
    pub name: u32,
    /// The RVA of the slots.
    pub slots: u32,
}

impl Descriptor {
    /// The descriptor at `rva`; `None` at the end of the table.
    ///
    /// # Errors
    /// When the table is cut off.
    pub fn read<V: View + ?Sized>(view: &V, rva: u32) -> Result<Option<Self>, Unreadable> {
        const CUT: Unreadable = Unreadable::Damaged("its import table is cut off");
        let field = |at: u32| rva.checked_add(at).and_then(|rva| view.u32(rva)).ok_or(CUT);
        let descriptor = Self {
            lookup: field(0)?,
            stamp: field(4)?,
            chain: field(8)?,
            name: field(12)?,
            slots: field(16)?,
        };
        // The loader stops here, whatever else stands in the descriptor.
        Ok((descriptor.name != 0 && descriptor.slots != 0).then_some(descriptor))
    }

    /// The RVA of the list that is to be read: old linkers leave the first one out.
    #[must_use]
    pub const fn names(&self) -> u32 {
        if self.lookup == 0 { self.slots } else { self.lookup }
    }
}

/// How something imported is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol<'a> {
    /// By name.
    Name {
        /// Where in the library's sorted names it stood when the file was linked.
        hint: u16,
        /// The name.
        name: &'a [u8],
    },
    /// By number.
    Ordinal(u16),
}

impl std::fmt::Display for Symbol<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name { name, .. } => f.write_str(&String::from_utf8_lossy(name)),
            Self::Ordinal(ordinal) => write!(f, "#{ordinal}"),
        }
    }
}

/// Steps of the budget for each symbol that is kept: many lists may be one list, and each is kept for itself.
const KEPT: usize = 16;

/// Bytes of a list's entry.
#[must_use]
pub const fn width(wide: bool) -> u32 {
    if wide { 8 } else { 4 }
}

/// The entry of a list at `rva`; `None` at its end.
///
/// # Errors
/// When the list is cut off, or names something outside.
pub fn symbol<V: View + ?Sized>(view: &V, rva: u32, wide: bool) -> Result<Option<Symbol<'_>>, Unreadable> {
    let word = view
        .word(rva, wide)
        .ok_or(Unreadable::Damaged("a list of imports is cut off"))?;
    let flag = if wide {
        pe::IMAGE_ORDINAL_FLAG64
    } else {
        pe::IMAGE_ORDINAL_FLAG32.into()
    };
    if word == 0 {
        return Ok(None);
    }
    if word & flag != 0 {
        return Ok(Some(Symbol::Ordinal(word as u16)));
    }
    let at = word as u32 & 0x7fff_ffff;
    let hint = view
        .u16(at)
        .ok_or(Unreadable::Damaged("an import's name lies outside"))?;
    let name = view.text(at.saturating_add(2))?;
    Ok(Some(Symbol::Name { hint, name }))
}

/// All that is imported from one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import<'a> {
    /// The library's name as it is written.
    pub library: &'a [u8],
    /// Its descriptor.
    pub descriptor: Descriptor,
    /// What is imported, in the order of the slots.
    pub symbols: Vec<Symbol<'a>>,
}

/// Reads the whole table.
///
/// # Errors
/// When it is damaged, or bound without a list of names (nothing is left then that could be read).
pub fn list<'a, V: View + ?Sized>(
    view: &'a V,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<Vec<Import<'a>>, Unreadable> {
    let mut imports = Vec::new();
    let Some(directory) = headers.directory(pe::IMAGE_DIRECTORY_ENTRY_IMPORT) else {
        return Ok(imports);
    };
    let mut rva = directory.rva;
    while let Some(descriptor) = Descriptor::read(view, rva)? {
        if descriptor.lookup == 0 && descriptor.stamp != 0 {
            return Err(Unreadable::Damaged(
                "its imports are bound and their names are not kept",
            ));
        }
        let library = view.text(descriptor.name)?;
        budget.spend(1 + library.len())?;
        let symbols = symbols(view, descriptor.names(), headers.wide, budget)?;
        imports.push(Import {
            library,
            descriptor,
            symbols,
        });
        rva = entry(rva, 1, DESCRIPTOR).ok_or(Unreadable::Damaged("its import table is cut off"))?;
    }
    Ok(imports)
}

/// Reads one list to its end.
pub(super) fn symbols<'a, V: View + ?Sized>(
    view: &'a V,
    list: u32,
    wide: bool,
    budget: &mut Budget,
) -> Result<Vec<Symbol<'a>>, Unreadable> {
    let mut symbols = Vec::new();
    let mut rva = list;
    while let Some(symbol) = symbol(view, rva, wide)? {
        budget.spend(match symbol {
            Symbol::Name { name, .. } => KEPT + name.len(),
            Symbol::Ordinal(_) => KEPT,
        })?;
        symbols.push(symbol);
        rva = entry(rva, 1, width(wide)).ok_or(Unreadable::Damaged("a list of imports is cut off"))?;
    }
    Ok(symbols)
}

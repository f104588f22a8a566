//! The symbols that a file offers to others and asks of them.

use object::LittleEndian as LE;
use object::elf::{self, Sym64};
use object::pod;

use super::hash::Table;
use super::versions::Versions;
use super::view::until_nul;
use super::{Budget, Image, Unreadable};

pub use super::versions::Version;

/// The dynamic symbols of a file, with their versions and their hash table.
#[derive(Clone, Debug)]
pub struct Symbols<'a> {
    /// To the end of the segment: the file does not say where the table ends, and the loader does not ask.
    table: &'a [Sym64<LE>],
    strings: &'a [u8],
    pub(super) versions: Versions<'a>,
    pub(super) hash: Table<'a>,
    count: u32,
}

/// What a symbol is bound as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Of the file itself.
    Local,
    /// For everybody.
    Global,
    /// Not missed when it is missing.
    Weak,
    /// One for the whole process, whichever library brings it first.
    Unique,
    /// None that the loader accepts.
    Other,
}

/// One symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its index in the table.
    pub index: u32,
    /// Its name.
    pub name: &'a [u8],
    /// Its version; for one that is asked for, with the library that is to bring it.
    pub version: Option<Version<'a>>,
    /// True when it is one of several versions, and not the one that new programs get.
    pub hidden: bool,
    /// Whether the file defines it.
    pub defined: bool,
    /// What it is bound as.
    pub binding: Binding,
    /// Whether it is a function that chooses an implementation at load time.
    pub ifunc: bool,
    /// Whether it is thread-local.
    pub tls: bool,
    /// Its address in the file's own terms.
    pub value: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl Symbol<'_> {
    /// Whether others can find it.
    #[must_use]
    pub fn is_export(&self) -> bool {
        self.defined && matches!(self.binding, Binding::Global | Binding::Weak | Binding::Unique)
    }

    /// Whether it is asked of others.
    #[must_use]
    pub fn is_import(&self) -> bool {
        !self.defined && matches!(self.binding, Binding::Global | Binding::Weak | Binding::Unique)
    }
}

impl<'a> Symbols<'a> {
    /// Reads the tables.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn read(image: &Image<'a>) -> Result<Self, Unreadable> {
        let mut budget = image.budget();
        let bytes = match image.dynamic.symbols {
            0 => &[][..],
            address => image.at(address),
        };
        let whole = bytes.len() / size_of::<Sym64<LE>>();
        let (table, _) = pod::slice_from_bytes(bytes, whole).unwrap_or_default();
        let hash = Table::read(image)?;
        let mut symbols = Self {
            table,
            strings: image.strings(),
            versions: Versions::read(image, &mut budget)?,
            hash,
            count: 0,
        };
        symbols.count = symbols.counted(image);
        Ok(symbols)
    }

    /// The number of symbols, the empty first one included. The older hash table says it; the newer one says where the
    /// last symbol is that others can find. In a file that offers nothing the table ends where the next one begins.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    fn counted(&self, image: &Image<'a>) -> u32 {
        let most = u32::try_from(self.table.len()).unwrap_or(u32::MAX);
        let begin = image.dynamic.symbols;
        let sysv = image.dynamic.hash.and_then(|address| {
            let (header, _) = pod::from_bytes::<[object::U32<LE>; 2]>(image.at(address)).ok()?;
            Some(header[1].get(LE))
        });
        let told = sysv.unwrap_or_else(|| self.hash.symbols());
        if told > 1 {
            return told.min(most);
        }
        let end = image
            .dynamic
            .addresses()
            .filter(|&address| address > begin)
            .min()
            .unwrap_or(begin);
        let between = (end - begin) / size_of::<Sym64<LE>>() as u64;
        u32::try_from(between).unwrap_or(u32::MAX).min(most)
    }

    /// All symbols but the empty first one.
    ///
    /// # Errors
    /// When their names overlap as in no sound file.
    pub fn all(&self, budget: &mut Budget) -> Result<Vec<Symbol<'a>>, Unreadable> {
        let mut all = Vec::new();
        for index in 1..self.count {
            if let Some(symbol) = self.get(index) {
                budget.spend(1 + symbol.name.len() as u64)?;
                all.push(symbol);
            }
        }
        Ok(all)
    }

    /// The symbol of an index; none behind the table. Its name costs a walk to the end of it.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<Symbol<'a>> {
        let entry = self.entry(index)?;
        Some(Symbol {
            index,
            name: self.name(entry),
            version: self.versions.of(index),
            hidden: self.versions.number(index).1,
            defined: entry.st_shndx.get(LE) != elf::SHN_UNDEF,
            binding: binding(entry),
            ifunc: entry.st_type() == elf::STT_GNU_IFUNC,
            tls: entry.st_type() == elf::STT_TLS,
            value: entry.st_value.get(LE),
            size: entry.st_size.get(LE),
        })
    }

    pub(super) fn entry(&self, index: u32) -> Option<&'a Sym64<LE>> {
        self.table.get(index as usize)
    }

    pub(super) fn name(&self, entry: &Sym64<LE>) -> &'a [u8] {
        until_nul(self.from(entry)).unwrap_or_default()
    }

    /// Whether a symbol has a name; unlike [`Symbols::name`] it looks at no more than that name's length.
    pub(super) fn is_named(&self, entry: &Sym64<LE>, name: &[u8]) -> bool {
        self.from(entry)
            .strip_prefix(name)
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    fn from(&self, entry: &Sym64<LE>) -> &'a [u8] {
        self.strings
            .get(entry.st_name.get(LE) as usize..)
            .unwrap_or_default()
    }
}

pub(super) fn binding(entry: &Sym64<LE>) -> Binding {
    match entry.st_bind() {
        elf::STB_LOCAL => Binding::Local,
        elf::STB_GLOBAL => Binding::Global,
        elf::STB_WEAK => Binding::Weak,
        elf::STB_GNU_UNIQUE => Binding::Unique,
        _ => Binding::Other,
    }
}

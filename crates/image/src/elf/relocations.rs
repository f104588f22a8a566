//! Relocations: the places in a file that the loader must write to before the program can run.
//!
//! The cheap kind adds the file's address to a number (*relative*); it costs little beside the page that it dirties. The
//! dear kind asks for a symbol, which is searched in one library after the other. Relative ones can be packed (`DT_RELR`):
//! a word is an address, or a map of the 63 words behind the last one.

use std::collections::HashSet;

use object::LittleEndian as LE;
use object::elf::{self, Rela64};

use super::{Image, Machine, Unreadable};

/// What is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The address of something in the file itself.
    Relative,
    /// The address of a symbol, for code that goes through a table (`GLOB_DAT`).
    GlobDat,
    /// The address of a function, which may be filled in at the first call (`JUMP_SLOT`).
    JumpSlot,
    /// The address of a symbol in data (`64`, `ABS64`).
    Absolute,
    /// The content of a library's variable, which then lives in the program (`COPY`).
    Copy,
    /// What a function of the file itself answers (`IRELATIVE`).
    Irelative,
    /// The number of the module that a thread-local variable lives in (`DTPMOD`): general-dynamic model.
    TlsModule,
    /// The place of a thread-local variable in its module (`DTPOFF`).
    TlsOffset,
    /// The distance of a thread-local variable from the thread pointer (`TPOFF`): initial-exec model.
    TlsStatic,
    /// A thread-local variable by descriptor (`TLSDESC`).
    TlsDescriptor,
    /// Nothing.
    None,
    /// Any other, by its number.
    Other(u32),
}

impl Kind {
    fn of(machine: Machine, number: elf::RelocationType) -> Self {
        match machine {
            Machine::X86_64 => match number {
                elf::R_X86_64_RELATIVE => Self::Relative,
                elf::R_X86_64_GLOB_DAT => Self::GlobDat,
                elf::R_X86_64_JUMP_SLOT => Self::JumpSlot,
                elf::R_X86_64_64 => Self::Absolute,
                elf::R_X86_64_COPY => Self::Copy,
                elf::R_X86_64_IRELATIVE => Self::Irelative,
                elf::R_X86_64_DTPMOD64 => Self::TlsModule,
                elf::R_X86_64_DTPOFF64 => Self::TlsOffset,
                elf::R_X86_64_TPOFF64 => Self::TlsStatic,
                elf::R_X86_64_TLSDESC => Self::TlsDescriptor,
                elf::R_X86_64_NONE => Self::None,
                other => Self::Other(other.0),
            },
            Machine::Aarch64 => match number {
                elf::R_AARCH64_RELATIVE => Self::Relative,
                elf::R_AARCH64_GLOB_DAT => Self::GlobDat,
                elf::R_AARCH64_JUMP_SLOT => Self::JumpSlot,
                elf::R_AARCH64_ABS64 => Self::Absolute,
                elf::R_AARCH64_COPY => Self::Copy,
                elf::R_AARCH64_IRELATIVE => Self::Irelative,
                elf::R_AARCH64_TLS_DTPMOD => Self::TlsModule,
                elf::R_AARCH64_TLS_DTPREL => Self::TlsOffset,
                elf::R_AARCH64_TLS_TPREL => Self::TlsStatic,
                elf::R_AARCH64_TLSDESC => Self::TlsDescriptor,
                elf::R_AARCH64_NONE => Self::None,
                other => Self::Other(other.0),
            },
        }
    }

    /// Whether it is about a thread-local variable.
    #[must_use]
    pub const fn is_tls(self) -> bool {
        matches!(
            self,
            Self::TlsModule | Self::TlsOffset | Self::TlsStatic | Self::TlsDescriptor
        )
    }
}

/// One place to be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Its address in the file's own terms (before the loader has chosen where the file goes).
    pub offset: u64,
    /// What is to be written.
    pub kind: Kind,
    /// The symbol that it asks for, as an index into the file's table; 0 for none.
    pub symbol: u32,
    /// What is to be added.
    pub addend: i64,
    /// Whether it stands in the table of functions (`DT_JMPREL`), which may be bound late.
    pub function: bool,
}

impl Relocation {
    pub(super) fn of(machine: Machine, entry: &Rela64<LE>, function: bool) -> Self {
        Self {
            offset: entry.r_offset.get(LE),
            kind: Kind::of(machine, entry.r_type(LE, false)),
            symbol: entry.r_sym(LE, false),
            addend: entry.r_addend.get(LE),
            function,
        }
    }
}

/// Entries of a table.
type Entries<'a> = &'a [Rela64<LE>];

/// The tables of relocations that are not packed: the general one, and that of functions.
///
/// # Errors
/// When they lie outside of the file.
pub(super) fn tables<'a>(image: &Image<'a>) -> Result<(Entries<'a>, Entries<'a>), Unreadable> {
    let dynamic = &image.dynamic;
    let ((first, mut size), (functions, functions_size)) = (dynamic.relocations, dynamic.functions);
    // Some linkers count the functions' table in.
    if functions_size > 0
        && first.checked_add(size) == functions.checked_add(functions_size)
        && functions >= first
    {
        size -= functions_size;
    }
    Ok((image.table(first, size)?, image.table(functions, functions_size)?))
}

/// The relocations of a file that are not packed, in the order in which the loader works on them.
///
/// # Errors
/// When the tables lie outside of the file.
pub fn unpacked<'a>(image: &Image<'a>) -> Result<impl Iterator<Item = Relocation> + use<'a>, Unreadable> {
    let machine = image.machine();
    let (entries, slots) = tables(image)?;
    let each = move |function: bool| move |entry: &Rela64<LE>| Relocation::of(machine, entry, function);
    Ok(entries
        .iter()
        .map(each(false))
        .chain(slots.iter().map(each(true))))
}

/// The addresses that the packed table stands for.
///
/// # Errors
/// When the table lies outside of the file.
pub fn packed<'a>(image: &Image<'a>) -> Result<impl Iterator<Item = u64> + use<'a>, Unreadable> {
    const WORD: u64 = 8;
    let (address, size) = image.dynamic.packed;
    let words = image.table::<object::U64<LE>>(address, size)?;
    let mut next = 0_u64;
    let expand = move |word: &object::U64<LE>| {
        let word = word.get(LE);
        let (map, begin) = if word & 1 == 0 {
            next = word.wrapping_add(WORD);
            // One address, written as a map with one bit.
            (1_u64, word)
        } else {
            let begin = next;
            next = next.wrapping_add(63 * WORD);
            (word >> 1, begin)
        };
        (0..63)
            .filter(move |bit| map >> bit & 1 == 1)
            .map(move |bit| begin.wrapping_add(bit * WORD))
    };
    Ok(words.iter().flat_map(expand))
}

/// How many of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Relative ones, one entry each.
    pub relative: u64,
    /// Relative ones that a packed table stands for.
    pub packed: u64,
    /// Entries of the packed table: what it costs in the file.
    pub packed_words: u64,
    /// See [`Kind::GlobDat`].
    pub glob_dat: u64,
    /// See [`Kind::JumpSlot`].
    pub jump_slot: u64,
    /// See [`Kind::Absolute`].
    pub absolute: u64,
    /// See [`Kind::Copy`].
    pub copy: u64,
    /// See [`Kind::Irelative`].
    pub irelative: u64,
    /// See [`Kind::TlsModule`].
    pub tls_module: u64,
    /// See [`Kind::TlsOffset`].
    pub tls_offset: u64,
    /// See [`Kind::TlsStatic`].
    pub tls_static: u64,
    /// See [`Kind::TlsDescriptor`].
    pub tls_descriptor: u64,
    /// All others.
    pub other: u64,
    /// Distinct pages of 4 KiB that are written to by all of them, lazily bound functions included.
    pub pages: u64,
    /// Distinct pages among these that relative relocations write to.
    pub relative_pages: u64,
}

impl Counts {
    /// All relative ones.
    #[must_use]
    pub const fn all_relative(&self) -> u64 {
        self.relative + self.packed
    }

    /// All that ask for a symbol, or may.
    #[must_use]
    pub const fn symbolic(&self) -> u64 {
        self.glob_dat
            + self.jump_slot
            + self.absolute
            + self.copy
            + self.tls_module
            + self.tls_offset
            + self.tls_static
            + self.tls_descriptor
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.all_relative() + self.symbolic() + self.irelative + self.other
    }
}

/// Counts a file's relocations.
///
/// # Errors
/// When the tables lie outside of the file.
pub fn count(image: &Image<'_>) -> Result<Counts, Unreadable> {
    let mut counts = Counts {
        packed_words: image.dynamic.packed.1 / 8,
        ..Counts::default()
    };
    let mut relative_pages = Pages::default();
    let mut other_pages = Pages::default();
    for address in packed(image)? {
        counts.packed += 1;
        relative_pages.touch(address);
    }
    for relocation in unpacked(image)? {
        let counter = match relocation.kind {
            Kind::Relative => &mut counts.relative,
            Kind::GlobDat => &mut counts.glob_dat,
            Kind::JumpSlot => &mut counts.jump_slot,
            Kind::Absolute => &mut counts.absolute,
            Kind::Copy => &mut counts.copy,
            Kind::Irelative => &mut counts.irelative,
            Kind::TlsModule => &mut counts.tls_module,
            Kind::TlsOffset => &mut counts.tls_offset,
            Kind::TlsStatic => &mut counts.tls_static,
            Kind::TlsDescriptor => &mut counts.tls_descriptor,
            Kind::None | Kind::Other(_) => &mut counts.other,
        };
        *counter += 1;
        match relocation.kind {
            Kind::None => {}
            Kind::Relative => relative_pages.touch(relocation.offset),
            _ => other_pages.touch(relocation.offset),
        }
    }
    counts.relative_pages = relative_pages.seen.len() as u64;
    counts.pages = relative_pages.seen.union(&other_pages.seen).count() as u64;
    Ok(counts)
}

/// Distinct pages of 4 KiB.
#[derive(Default)]
struct Pages {
    seen: HashSet<u64>,
    last: Option<u64>,
}

impl Pages {
    fn touch(&mut self, address: u64) {
        let page = address >> 12;
        // Neighbours mostly lie on the same page.
        if self.last != Some(page) {
            self.last = Some(page);
            self.seen.insert(page);
        }
    }
}

//! Which parts of a file are not compared byte by byte, because an entry-by-entry comparison knows better.

use object::LittleEndian as LE;
use object::elf;

use super::super::relocations::{self, Kind};
use super::super::symbols::Symbols;
use super::super::{Image, Unreadable};

/// Bytes of a word.
pub const WORD: u64 = 8;

/// A range of addresses in the file's own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Area {
    pub start: u64,
    pub end: u64,
    pub what: AreaKind,
}

/// Why an area is not compared byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AreaKind {
    /// Its entries are compared one by one.
    Dynamic,
    /// A table; its name.
    Table(&'static str),
    /// The first word of the global offset table: the address of the dynamic table.
    GotFirst,
}

/// A place that a relocation writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its address in the file's own terms.
    pub address: u64,
    /// Bytes that are written.
    pub size: u64,
    pub kind: Kind,
    /// Whether it comes from the packed table.
    pub packed: bool,
    pub symbol: u32,
    pub addend: i64,
}

/// The address of the first segment, from which offsets in an object are counted.
pub fn origin(image: &Image<'_>) -> u64 {
    image.base()
}

/// The address behind the last segment.
pub fn end(image: &Image<'_>) -> u64 {
    image
        .loads()
        .map(|load| load.p_vaddr.get(LE).saturating_add(load.p_memsz.get(LE)))
        .max()
        .unwrap_or(0)
}

/// The places that relocations write to, in the order of their addresses; where several write to one, the last.
///
/// Relocations of kinds that glibc's loader meets in no sound file are left out: their places are compared as bytes.
pub fn slots(image: &Image<'_>) -> Result<Vec<Slot>, Unreadable> {
    let symbols = Symbols::read(image)?;
    let mut slots: Vec<_> = relocations::packed(image)?
        .map(|address| Slot {
            address,
            size: WORD,
            kind: Kind::Relative,
            packed: true,
            symbol: 0,
            addend: 0,
        })
        .collect();
    for relocation in relocations::unpacked(image)? {
        let size = match relocation.kind {
            Kind::None | Kind::Other(_) => continue,
            Kind::TlsDescriptor => 2 * WORD,
            Kind::Copy => symbols
                .entry(relocation.symbol)
                .map_or(0, |symbol| symbol.st_size.get(LE)),
            _ => WORD,
        };
        slots.push(Slot {
            address: relocation.offset,
            size,
            kind: relocation.kind,
            packed: false,
            symbol: relocation.symbol,
            addend: relocation.addend,
        });
    }
    slots.sort_by_key(|slot| slot.address);
    // The sort keeps the loader's order among equals.
    slots.reverse();
    slots.dedup_by_key(|slot| slot.address);
    slots.reverse();
    Ok(slots)
}

/// The tables of a file, in the order of their addresses.
pub fn tables(image: &Image<'_>) -> Result<Vec<Area>, Unreadable> {
    let dynamic = &image.dynamic;
    let mut areas = Vec::new();
    let mut add = |start: u64, size: u64, what| {
        if let Some(end) = start.checked_add(size).filter(|&end| end > start) {
            areas.push(Area { start, end, what });
        }
    };
    for load in image.loads() {
        // The headers are part of the segment that begins with the file.
        let (offset, size, address) = (load.p_offset.get(LE), load.p_filesz.get(LE), load.p_vaddr.get(LE));
        let header = (0, size_of::<elf::FileHeader64<LE>>() as u64, "the ELF header");
        let headers = program_headers(image);
        for (at, length, name) in [header, (headers.0, headers.1, "the program headers")] {
            if offset <= at && at.saturating_add(length) <= offset.saturating_add(size) {
                add(address.saturating_add(at - offset), length, AreaKind::Table(name));
            }
        }
    }
    if let Some(segment) = image.segment(elf::PT_DYNAMIC) {
        add(
            segment.p_vaddr.get(LE),
            segment.p_filesz.get(LE),
            AreaKind::Dynamic,
        );
    }
    let symbols = u64::from(Symbols::read(image)?.count()) * size_of::<elf::Sym64<LE>>() as u64;
    add(dynamic.symbols, symbols, AreaKind::Table("the dynamic symbols"));
    for (start, size) in [dynamic.relocations, dynamic.functions, dynamic.packed] {
        add(start, size, AreaKind::Table("the relocations"));
    }
    if let Some(address) = got_first(image) {
        add(address, WORD, AreaKind::GotFirst);
    }
    areas.sort_unstable();
    Ok(areas)
}

/// Offset and size of the program headers in the file.
pub fn program_headers(image: &Image<'_>) -> (u64, u64) {
    let all = image.segments();
    let start = all.as_ptr().addr() - image.bytes().as_ptr().addr();
    (start as u64, size_of_val(all) as u64)
}

/// The first word of the table that `DT_PLTGOT` names, when it holds what the psABI says: the address of the dynamic table.
fn got_first(image: &Image<'_>) -> Option<u64> {
    let dynamic = image.segment(elf::PT_DYNAMIC)?.p_vaddr.get(LE);
    let address = image.dynamic.functions_table;
    (address != 0 && word(image, address)? == dynamic).then_some(address)
}

/// A word of the file by its address.
pub fn word(image: &Image<'_>, address: u64) -> Option<u64> {
    let bytes = image.at(address).first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

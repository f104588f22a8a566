//! The dynamic table of the copy.

use object::LittleEndian as LE;
use object::elf::{self, Dyn64, DynamicTag};

use super::super::Image;
use super::draft::{Draft, OUTSIDE};
use super::tables::Tables;
use super::{Immovable, headers};

/// The entries that hold an address.
const ADDRESSES: [DynamicTag; 19] = [
    elf::DT_PLTGOT,
    elf::DT_HASH,
    elf::DT_STRTAB,
    elf::DT_SYMTAB,
    elf::DT_RELA,
    elf::DT_INIT,
    elf::DT_FINI,
    elf::DT_JMPREL,
    elf::DT_INIT_ARRAY,
    elf::DT_FINI_ARRAY,
    elf::DT_PREINIT_ARRAY,
    elf::DT_SYMTAB_SHNDX,
    elf::DT_RELR,
    elf::DT_GNU_HASH,
    elf::DT_TLSDESC_PLT,
    elf::DT_TLSDESC_GOT,
    elf::DT_VERSYM,
    elf::DT_VERDEF,
    elf::DT_VERNEED,
];

/// The entries that hold a number or the place of a text.
const NUMBERS: [DynamicTag; 26] = [
    elf::DT_NULL,
    elf::DT_NEEDED,
    elf::DT_PLTRELSZ,
    elf::DT_RELASZ,
    elf::DT_RELAENT,
    elf::DT_STRSZ,
    elf::DT_SYMENT,
    elf::DT_SONAME,
    elf::DT_RPATH,
    elf::DT_RUNPATH,
    elf::DT_SYMBOLIC,
    elf::DT_PLTREL,
    elf::DT_DEBUG,
    elf::DT_BIND_NOW,
    elf::DT_INIT_ARRAYSZ,
    elf::DT_FINI_ARRAYSZ,
    elf::DT_PREINIT_ARRAYSZ,
    elf::DT_FLAGS,
    elf::DT_FLAGS_1,
    elf::DT_RELRSZ,
    elf::DT_RELRENT,
    elf::DT_RELACOUNT,
    elf::DT_RELCOUNT,
    elf::DT_VERDEFNUM,
    elf::DT_VERNEEDNUM,
    elf::DT_CHECKSUM,
];

/// The entries that say more than can be carried over, with their names.
const UNSUPPORTED: [(DynamicTag, &str); 7] = [
    (elf::DT_REL, "DT_REL: relocations without their addends"),
    (elf::DT_AUDIT, "DT_AUDIT: it wants to be watched"),
    (
        elf::DT_DEPAUDIT,
        "DT_DEPAUDIT: it wants what it needs to be watched",
    ),
    (elf::DT_AUXILIARY, "DT_AUXILIARY: it stands for another library"),
    (elf::DT_FILTER, "DT_FILTER: it stands for another library"),
    (elf::DT_GNU_PRELINKED, "DT_GNU_PRELINKED: prelink has changed it"),
    (elf::DT_TEXTREL, "DT_TEXTREL: the loader has to write to its code"),
];

/// The table of procedures that newer linkers describe (`-z mark-plt`): where it is, its size, and the size of an entry.
const X86_64_PLT: [DynamicTag; 3] = [
    DynamicTag(0x7000_0000),
    DynamicTag(0x7000_0001),
    DynamicTag(0x7000_0003),
];

/// Whether all entries are of a known kind.
pub(super) fn check(image: &Image<'_>) -> Result<(), Immovable> {
    let (offset, count) = place(image).ok_or(OUTSIDE)?;
    let draft = Draft::new(image, 0)?;
    // The loader goes by the address, everybody else by the offset.
    let tables = || {
        image
            .segments()
            .iter()
            .filter(|segment| segment.p_type.get(LE) == elf::PT_DYNAMIC)
    };
    let same = tables().all(|table| {
        let place = draft.place(table.p_vaddr.get(LE), table.p_filesz.get(LE));
        place.is_some_and(|(at, _)| at == offset)
    });
    if !same || tables().count() != 1 {
        return Err(Immovable::Layout);
    }
    for (tag, _) in entries(&draft, offset, count) {
        if let Some((_, name)) = UNSUPPORTED.iter().find(|(other, _)| *other == tag) {
            return Err(Immovable::UnsupportedEntry(name));
        }
        let known = ADDRESSES.contains(&tag) || NUMBERS.contains(&tag) || X86_64_PLT.contains(&tag);
        if !known {
            return Err(Immovable::UnknownEntry(tag.0));
        }
    }
    Ok(())
}

/// Offset in the file and number of the entries, the end mark included.
pub(super) fn place(image: &Image<'_>) -> Option<(usize, usize)> {
    let segment = headers::segment(image, elf::PT_DYNAMIC)?;
    let offset = usize::try_from(segment.p_offset.get(LE)).ok()?;
    let size = usize::try_from(segment.p_filesz.get(LE)).ok()?;
    Some((offset, size / ENTRY))
}

pub(super) const ENTRY: usize = size_of::<Dyn64<LE>>();

/// The entries up to the end mark, as they are in the copy by now.
pub(super) fn entries(draft: &Draft, offset: usize, count: usize) -> Vec<(DynamicTag, u64)> {
    let bytes = draft.bytes.get(offset..).unwrap_or_default();
    let (table, _) = object::pod::slice_from_bytes::<Dyn64<LE>>(bytes, count).unwrap_or_default();
    table
        .iter()
        .map(|entry| (entry.d_tag.get(LE), entry.d_val.get(LE)))
        .take_while(|(tag, _)| *tag != elf::DT_NULL)
        .collect()
}

pub(super) fn moved(
    image: &Image<'_>,
    draft: &mut Draft,
    tables: &Tables,
    fixed: bool,
) -> Result<(), Immovable> {
    let (offset, count) = place(image).ok_or(OUTSIDE)?;
    let used = entries(draft, offset, count).len();
    let by = draft.by;
    for entry in draft.table::<Dyn64<LE>>(offset, used)? {
        let tag = entry.d_tag.get(LE);
        let value = entry.d_val.get(LE);
        let new = match tag {
            elf::DT_RELASZ => tables.size(),
            elf::DT_RELACOUNT => tables.relative,
            elf::DT_PLTRELSZ => tables.functions_size(),
            elf::DT_RELRSZ => 0,
            // What is at a fixed address is no longer position independent.
            elf::DT_FLAGS_1 if fixed => value & !elf::DF_1_PIE.0,
            tag if (ADDRESSES.contains(&tag) || tag == X86_64_PLT[0]) && value != 0 => value.wrapping_add(by),
            _ => value,
        };
        entry.d_val.set(LE, new);
    }
    // The first word of the table of functions' addresses is where the dynamic table is.
    let table = headers::segment(image, elf::PT_DYNAMIC).map(|segment| segment.p_vaddr.get(LE));
    let got = image.dynamic.functions_table;
    if got != 0 && table.is_some() && draft.word(got) == table {
        let moved = draft.shift(table.unwrap_or(0));
        draft.set_word(got, moved)?;
    }
    Ok(())
}

/// The address of the value of `DT_DEBUG` at run time.
pub(super) fn debug(image: &Image<'_>, draft: &Draft) -> Option<u64> {
    let (offset, count) = place(image)?;
    let index = entries(draft, offset, count)
        .iter()
        .position(|(tag, _)| *tag == elf::DT_DEBUG)?;
    let begin = headers::segment(image, elf::PT_DYNAMIC)?.p_vaddr.get(LE);
    Some(draft.shift(begin) + (index * ENTRY + ENTRY / 2) as u64)
}

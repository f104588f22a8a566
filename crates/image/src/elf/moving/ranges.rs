//! The parts of a file that are rewritten, each by its own rules: none may lie over another, and no relocation may write to one.

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64, Rela64, SectionHeader64, Sym64};

use super::super::symbols::Symbols;
use super::super::{Image, relocations};
use super::draft::{Draft, OUTSIDE};
use super::{Immovable, dynamic, headers};

/// The parts, in the order of the file.
///
/// # Errors
/// When two of them overlap, or one does not lie in the file.
pub(super) fn of(image: &Image<'_>, draft: &Draft) -> Result<Vec<Range<usize>>, Immovable> {
    let mut parts = Vec::new();
    let mut add = |start: usize, count: usize, size: usize| {
        let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(start));
        match end.filter(|&end| end <= image.bytes().len()) {
            Some(end) if end > start => parts.push(start..end),
            Some(_) => {}
            None => return Err(OUTSIDE),
        }
        Ok(())
    };
    let (header, _) =
        object::pod::from_bytes::<FileHeader64<LE>>(image.bytes()).map_err(|()| Immovable::Layout)?;
    let offset = |value: u64| usize::try_from(value).map_err(|_| OUTSIDE);
    add(
        offset(header.e_phoff.get(LE))?,
        image.segments().len(),
        size_of::<ProgramHeader64<LE>>(),
    )?;
    if let Some(sections) = headers::sections(image) {
        let size = size_of::<SectionHeader64<LE>>();
        add(offset(header.e_shoff.get(LE))?, sections.len(), size)?;
        for section in sections {
            let loaded = section.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 != 0;
            if section.sh_type.get(LE) == elf::SHT_SYMTAB && !loaded {
                add(
                    offset(section.sh_offset.get(LE))?,
                    offset(section.sh_size.get(LE))?,
                    1,
                )?;
            }
        }
    }
    let (at, count) = dynamic::place(image).ok_or(OUTSIDE)?;
    add(at, count, dynamic::ENTRY)?;
    let (entries, slots) = relocations::tables(image)?;
    let (packed, packed_size) = image.dynamic.packed;
    let symbols = Symbols::read(image)?.count() as usize;
    for (address, count, size) in [
        (
            image.dynamic.relocations.0,
            entries.len(),
            size_of::<Rela64<LE>>(),
        ),
        (image.dynamic.functions.0, slots.len(), size_of::<Rela64<LE>>()),
        (packed, offset(packed_size / 8)?, 8),
        (image.dynamic.symbols, symbols, size_of::<Sym64<LE>>()),
    ] {
        if address != 0 && count > 0 {
            let (at, _) = draft.place(address, (count * size) as u64).ok_or(OUTSIDE)?;
            add(at, count, size)?;
        }
    }
    parts.sort_by_key(|part| part.start);
    let overlap = parts
        .iter()
        .zip(parts.iter().skip(1))
        .any(|(one, next)| next.start < one.end);
    if overlap {
        Err(Immovable::Overlap)
    } else {
        Ok(parts)
    }
}

/// Whether a word lies in one of the parts.
pub(super) fn contain(parts: &[Range<usize>], at: usize) -> bool {
    let next = parts.partition_point(|part| part.end <= at);
    parts.get(next).is_some_and(|part| part.start < at + 8)
}

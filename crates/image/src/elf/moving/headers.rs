//! Program headers and section headers of the copy.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64};
use object::pod;

use super::super::Image;
use super::draft::Draft;
use super::tables::Tables;
use super::{Immovable, PAGE};

pub(super) fn segment<'a>(image: &Image<'a>, kind: elf::ProgramType) -> Option<&'a ProgramHeader64<LE>> {
    image
        .segments()
        .iter()
        .find(|segment| segment.p_type.get(LE) == kind)
}

/// The first page that the segments take, and the end of the last.
pub(super) fn extent(image: &Image<'_>) -> Result<(u64, u64), Immovable> {
    let mut begin = None;
    let mut end = 0_u64;
    for load in image.segments() {
        if load.p_type.get(LE) != elf::PT_LOAD {
            continue;
        }
        let address = load.p_vaddr.get(LE);
        let size = load.p_memsz.get(LE);
        let page = address & !(PAGE - 1);
        let congruent = address % PAGE == load.p_offset.get(LE) % PAGE;
        if !congruent || size < load.p_filesz.get(LE) || (begin.is_some() && page < end) {
            return Err(Immovable::Layout);
        }
        begin = begin.or(Some(page));
        let last = address
            .checked_add(size)
            .and_then(|last| last.checked_next_multiple_of(PAGE));
        end = last.filter(|&last| last < 1 << 47).ok_or(Immovable::Layout)?;
    }
    Ok((begin.ok_or(Immovable::Layout)?, end))
}

/// The section headers; none when they do not lie within the file, which nothing at run time needs.
pub(super) fn sections<'a>(image: &Image<'a>) -> Option<&'a [SectionHeader64<LE>]> {
    let (header, _) = pod::from_bytes::<FileHeader64<LE>>(image.bytes()).ok()?;
    if usize::from(header.e_shentsize.get(LE)) != size_of::<SectionHeader64<LE>>() {
        return None;
    }
    let offset = usize::try_from(header.e_shoff.get(LE))
        .ok()
        .filter(|&offset| offset != 0)?;
    let rest = image.bytes().get(offset..)?;
    let (table, _) = pod::slice_from_bytes(rest, usize::from(header.e_shnum.get(LE))).ok()?;
    Some(table)
}

pub(super) fn moved(
    image: &Image<'_>,
    draft: &mut Draft,
    tables: &Tables,
    fixed: bool,
) -> Result<(), Immovable> {
    let by = draft.by;
    let (header, _) = pod::from_bytes::<FileHeader64<LE>>(image.bytes()).map_err(|()| Immovable::Layout)?;
    let (segments_at, sections_at) = (header.e_phoff.get(LE), header.e_shoff.get(LE));
    let entry = draft.shift(header.e_entry.get(LE));
    let copied = draft.table::<FileHeader64<LE>>(0, 1)?;
    if let [header] = copied {
        header.e_entry.set(LE, entry);
        if fixed {
            header.e_type.set(LE, elf::ET_EXEC);
        }
    }
    let place = usize::try_from(segments_at).map_err(|_| Immovable::Layout)?;
    for segment in draft.table::<ProgramHeader64<LE>>(place, image.segments().len())? {
        let kind = segment.p_type.get(LE);
        if kind == elf::PT_GNU_STACK {
            continue;
        }
        segment.p_vaddr.set(LE, segment.p_vaddr.get(LE).wrapping_add(by));
        segment.p_paddr.set(LE, segment.p_paddr.get(LE).wrapping_add(by));
        if kind == elf::PT_LOAD && segment.p_align.get(LE) > PAGE {
            // For more than a page the loader would first look for a larger place, and so for another one.
            segment.p_align.set(LE, PAGE);
        }
    }
    let Some(sections) = sections(image) else {
        return Ok(());
    };
    let names = names(image, sections);
    let place = usize::try_from(sections_at).map_err(|_| Immovable::Layout)?;
    for (section, name) in draft
        .table::<SectionHeader64<LE>>(place, sections.len())?
        .iter_mut()
        .zip(names)
    {
        let loaded = section.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 != 0;
        if loaded {
            let address = section.sh_addr.get(LE);
            let kind = section.sh_type.get(LE);
            if kind == elf::SHT_RELA && address == image.dynamic.functions.0 {
                section.sh_size.set(LE, tables.functions_size());
            } else if kind == elf::SHT_RELA && address == image.dynamic.relocations.0 {
                section.sh_size.set(LE, tables.size());
            } else if kind == elf::SHT_RELR {
                section.sh_size.set(LE, 0);
            }
            section.sh_addr.set(LE, address.wrapping_add(by));
        } else if [
            &b".debug"[..],
            b".zdebug",
            b".gdb_index",
            b".gnu_debugdata",
            b".stab",
        ]
        .iter()
        .any(|begin| name.starts_with(begin))
        {
            // Its addresses are those of the original.
            section.sh_type.set(LE, elf::SHT_NULL);
            section.sh_size.set(LE, 0);
        }
    }
    Ok(())
}

/// The name of each section, empty where it has none.
pub(super) fn names<'a>(image: &Image<'a>, sections: &[SectionHeader64<LE>]) -> Vec<&'a [u8]> {
    let texts = pod::from_bytes::<FileHeader64<LE>>(image.bytes())
        .ok()
        .and_then(|(header, _)| sections.get(usize::from(header.e_shstrndx.get(LE).0)))
        .and_then(|section| {
            let begin = usize::try_from(section.sh_offset.get(LE)).ok()?;
            let size = usize::try_from(section.sh_size.get(LE)).ok()?;
            image.bytes().get(begin..)?.get(..size)
        })
        .unwrap_or_default();
    sections
        .iter()
        .map(|section| {
            texts
                .get(section.sh_name.get(LE) as usize..)
                .and_then(super::super::view::until_nul)
                .unwrap_or_default()
        })
        .collect()
}

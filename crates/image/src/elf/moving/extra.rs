//! A segment more, for tables that have grown: program headers, dynamic table, texts.
//!
//! It lies behind all others, in the file and in memory, so nothing else moves. The loader may write to it: into a program's
//! dynamic table it stores what debuggers look for.

use object::LittleEndian as LE;
use object::elf::{self, DynamicTag, FileHeader64, ProgramHeader64, SectionHeader64};

use super::super::Image;
use super::draft::{Draft, OUTSIDE};
use super::tables::{self, Tables};
use super::{Immovable, PAGE, Texts, dynamic, headers};

const HEADER: usize = size_of::<ProgramHeader64<LE>>();

/// What is in the segment, by offset from its begin: the program headers come first.
struct Parts {
    /// The table of relocations, where it spills; room for the most that it can be.
    relocations: usize,
    dynamic: usize,
    texts: usize,
    size: usize,
    /// The entries of the dynamic table, with texts by their place in the new table.
    entries: Vec<(DynamicTag, u64)>,
    /// The texts, the original's first.
    bytes: Vec<u8>,
    /// Where the name of the loader is among them.
    interpreter: Option<(usize, usize)>,
}

fn parts(image: &Image<'_>, draft: &Draft, texts: &Texts) -> Result<Parts, Immovable> {
    let (offset, count) = dynamic::place(image).ok_or(OUTSIDE)?;
    let strings = usize::try_from(image.dynamic.strings_size).map_err(|_| OUTSIDE)?;
    let mut bytes = image.strings().get(..strings).ok_or(OUTSIDE)?.to_vec();
    if bytes.last() != Some(&0) {
        bytes.push(0);
    }
    let mut text = |new: &str| {
        let at = bytes.len();
        bytes.extend_from_slice(new.as_bytes());
        bytes.push(0);
        at
    };
    let mut entries = Vec::new();
    let needed = texts.needed.as_ref();
    for name in needed.into_iter().flatten() {
        entries.push((elf::DT_NEEDED, text(name) as u64));
    }
    for (tag, value) in dynamic::entries(draft, offset, count) {
        let new = match tag {
            elf::DT_NEEDED if needed.is_some() => continue,
            elf::DT_RPATH => texts.rpath.as_deref(),
            elf::DT_RUNPATH => texts.runpath.as_deref(),
            _ => None,
        };
        entries.push((tag, new.map_or(value, |new| text(new) as u64)));
    }
    let interpreter = texts
        .interpreter
        .as_deref()
        .map(|name| (text(name), name.len() + 1));
    let relocations = (image.segments().len() + 1) * HEADER;
    let spilled = if tables::may_spill(image)? {
        tables::most(image)?
    } else {
        0
    };
    let dynamic = relocations + spilled;
    let texts = dynamic + (entries.len() + 1) * dynamic::ENTRY;
    Ok(Parts {
        relocations,
        dynamic,
        texts,
        size: texts + bytes.len(),
        entries,
        bytes,
        interpreter,
    })
}

/// The addresses that the segment takes, in bytes.
pub(super) fn size(image: &Image<'_>, texts: &Texts) -> Result<u64, Immovable> {
    let draft = Draft::new(image, 0)?;
    let size = parts(image, &draft, texts)?.size as u64;
    size.checked_next_multiple_of(PAGE).ok_or(Immovable::Layout)
}

/// Appends the segment. Returns the address of the value of `DT_DEBUG`.
pub(super) fn append(
    image: &Image<'_>,
    draft: &mut Draft,
    texts: &Texts,
    tables: &Tables,
) -> Result<Option<u64>, Immovable> {
    let parts = parts(image, draft, texts)?;
    let (_, end) = headers::extent(image)?;
    let address = draft.shift(end);
    let offset = draft.bytes.len().next_multiple_of(PAGE as usize);
    let segments = segments(image, draft, &parts, address, offset)?;
    sections(image, draft, &parts, tables.spills, address, offset)?;
    if let [header] = draft.table::<FileHeader64<LE>>(0, 1)? {
        header.e_phoff.set(LE, offset as u64);
        let count = u16::try_from(segments.len()).map_err(|_| Immovable::Layout)?;
        header.e_phnum.set(LE, count);
    }
    let mut debug = None;
    draft.bytes.resize(offset, 0);
    draft
        .bytes
        .extend_from_slice(object::pod::bytes_of_slice(&segments));
    if tables.spills {
        draft.bytes.extend_from_slice(tables.bytes());
    }
    draft.bytes.resize(offset + parts.dynamic, 0);
    let end = (elf::DT_NULL, 0);
    for (index, (tag, value)) in (0..).zip(parts.entries.iter().chain([&end])) {
        let new = match *tag {
            elf::DT_STRTAB => address + parts.texts as u64,
            elf::DT_RELA if tables.spills => address + parts.relocations as u64,
            elf::DT_STRSZ => parts.bytes.len() as u64,
            elf::DT_DEBUG => {
                debug = Some(address + (parts.dynamic + index * dynamic::ENTRY + dynamic::ENTRY / 2) as u64);
                0
            }
            _ => *value,
        };
        draft.bytes.extend_from_slice(&tag.0.to_le_bytes());
        draft.bytes.extend_from_slice(&new.to_le_bytes());
    }
    draft.bytes.extend_from_slice(&parts.bytes);
    Ok(debug)
}

/// The program headers with one more, behind the last that is loaded.
fn segments(
    image: &Image<'_>,
    draft: &mut Draft,
    parts: &Parts,
    address: u64,
    offset: usize,
) -> Result<Vec<ProgramHeader64<LE>>, Immovable> {
    let place = header_offset(image)?;
    let mut segments = draft
        .table::<ProgramHeader64<LE>>(place, image.segments().len())?
        .to_vec();
    let last = segments
        .iter()
        .rposition(|segment| segment.p_type.get(LE) == elf::PT_LOAD)
        .ok_or(Immovable::Layout)?;
    let mut load = *segments.get(last).ok_or(Immovable::Layout)?;
    lead(&mut load, address, offset, parts.size);
    load.p_flags.set(LE, elf::PF_R | elf::PF_W);
    load.p_align.set(LE, PAGE);
    segments.insert(last + 1, load);
    let table = segments.len() * HEADER;
    for segment in &mut segments {
        match segment.p_type.get(LE) {
            elf::PT_PHDR => lead(segment, address, offset, table),
            elf::PT_DYNAMIC => {
                let size = parts.texts - parts.dynamic;
                lead(
                    segment,
                    address + parts.dynamic as u64,
                    offset + parts.dynamic,
                    size,
                );
            }
            // The kernel goes by the offset, the loader by the address: there is still the old name.
            elf::PT_INTERP => {
                if let Some((at, size)) = parts.interpreter {
                    segment.p_offset.set(LE, (offset + parts.texts + at) as u64);
                    segment.p_filesz.set(LE, size as u64);
                }
            }
            _ => {}
        }
    }
    Ok(segments)
}

fn lead(segment: &mut ProgramHeader64<LE>, address: u64, offset: usize, size: usize) {
    segment.p_vaddr.set(LE, address);
    segment.p_paddr.set(LE, address);
    segment.p_offset.set(LE, offset as u64);
    segment.p_filesz.set(LE, size as u64);
    segment.p_memsz.set(LE, size as u64);
}

fn sections(
    image: &Image<'_>,
    draft: &mut Draft,
    parts: &Parts,
    spills: bool,
    address: u64,
    offset: usize,
) -> Result<(), Immovable> {
    let Some(sections) = headers::sections(image) else {
        return Ok(());
    };
    let (header, _) =
        object::pod::from_bytes::<FileHeader64<LE>>(image.bytes()).map_err(|()| Immovable::Layout)?;
    let place = usize::try_from(header.e_shoff.get(LE)).map_err(|_| Immovable::Layout)?;
    let names = headers::names(image, sections);
    let old_texts = draft.shift(image.dynamic.strings);
    let old_relocations = draft.shift(image.dynamic.relocations.0);
    for (section, name) in draft
        .table::<SectionHeader64<LE>>(place, sections.len())?
        .iter_mut()
        .zip(names)
    {
        let (at, size) = match section.sh_type.get(LE) {
            elf::SHT_DYNAMIC => (parts.dynamic, parts.texts - parts.dynamic),
            elf::SHT_STRTAB if section.sh_addr.get(LE) == old_texts => (parts.texts, parts.bytes.len()),
            elf::SHT_RELA if spills && section.sh_addr.get(LE) == old_relocations => (
                parts.relocations,
                usize::try_from(section.sh_size.get(LE)).unwrap_or(0),
            ),
            elf::SHT_PROGBITS if name == b".interp" => match parts.interpreter {
                Some((at, size)) => (parts.texts + at, size),
                None => continue,
            },
            _ => continue,
        };
        section.sh_addr.set(LE, address + at as u64);
        section.sh_offset.set(LE, (offset + at) as u64);
        section.sh_size.set(LE, size as u64);
    }
    Ok(())
}

fn header_offset(image: &Image<'_>) -> Result<usize, Immovable> {
    let (header, _) =
        object::pod::from_bytes::<FileHeader64<LE>>(image.bytes()).map_err(|()| Immovable::Layout)?;
    usize::try_from(header.e_phoff.get(LE)).map_err(|_| Immovable::Layout)
}

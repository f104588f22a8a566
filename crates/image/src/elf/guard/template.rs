//! The template of the guard: a position-independent program that needs no relocation, with a cell for the plan's address.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::pod;

use super::fill::Places;
use super::layout::{
    CELL_MAGIC, CELL_PLAN, CELL_SCRATCH, NOTICE_AFTER_ENTRY, NOTICE_BYTES, STUBS_AFTER_ENTRY,
};
use super::loader::segments;
use super::{PAGE, Unfillable};

/// What a template promises, found in it.
pub(super) struct Template<'a> {
    pub(super) header: &'a FileHeader64<LE>,
    loads: Vec<ProgramHeader64<LE>>,
    stack: Option<ProgramHeader64<LE>>,
    /// Up to the end of the data in the file.
    pub(super) content: &'a [u8],
    /// The cell in the file.
    pub(super) cell: usize,
}

const fn wrong(why: &'static str) -> Unfillable {
    Unfillable::Template(why)
}

impl<'a> Template<'a> {
    /// Reads a template, and sees that it is one.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Unfillable> {
        let (header, _) =
            pod::from_bytes::<FileHeader64<LE>>(bytes).map_err(|()| wrong("it has no header"))?;
        let ident = &header.e_ident;
        if ident.magic != elf::ELFMAG
            || ident.class != elf::ELFCLASS64
            || ident.data != elf::ELFDATA2LSB
            || header.e_type.get(LE) != elf::ET_DYN
            || header.e_machine.get(LE) != elf::EM_X86_64
        {
            return Err(wrong("it is not a position-independent file for x86-64"));
        }
        let segments = segments(header, bytes).ok_or(wrong("its program headers lie outside of it"))?;
        let of = |kind| {
            segments
                .iter()
                .filter(move |segment| segment.p_type.get(LE) == kind)
        };
        if of(elf::PT_INTERP).next().is_some() || of(elf::PT_TLS).next().is_some() {
            return Err(wrong("it needs an interpreter or thread-local data"));
        }
        let loads: Vec<_> = of(elf::PT_LOAD).copied().collect();
        check_loads(&loads, bytes.len() as u64).ok_or(wrong("its segments are not as they should be"))?;
        let data = loads.last().ok_or(wrong("it has no segments"))?;
        let begin = data.p_offset.get(LE) as usize;
        let end = begin + data.p_filesz.get(LE) as usize;
        let content = bytes.get(..end).ok_or(wrong("it was cut"))?;
        let mut template = Self {
            header,
            stack: of(elf::PT_GNU_STACK).next().copied(),
            content,
            cell: 0,
            loads,
        };
        if let Some(dynamic) = of(elf::PT_DYNAMIC).next() {
            template.check_dynamic(dynamic)?;
        }
        template.cell = find_cell(content, begin)?;
        template.check_entry()?;
        Ok(template)
    }

    /// Its entries must not ask for anything.
    fn check_dynamic(&self, segment: &ProgramHeader64<LE>) -> Result<(), Unfillable> {
        let begin = usize::try_from(segment.p_offset.get(LE)).ok();
        let size = usize::try_from(segment.p_filesz.get(LE)).ok();
        let entries = begin
            .and_then(|begin| self.content.get(begin..)?.get(..size?))
            .ok_or(wrong("its dynamic table lies outside of it"))?
            .chunks_exact(16)
            .map(|entry| entry.first_chunk::<8>().map(|tag| i64::from_le_bytes(*tag)));
        for tag in entries.flatten().take_while(|tag| *tag != elf::DT_NULL.0) {
            let asks = [
                elf::DT_NEEDED,
                elf::DT_RELA,
                elf::DT_REL,
                elf::DT_RELR,
                elf::DT_JMPREL,
            ];
            if asks.iter().any(|asks| asks.0 == tag) {
                return Err(wrong("it needs libraries or relocations"));
            }
        }
        Ok(())
    }

    /// The entry point and all stubs must lie in code.
    fn check_entry(&self) -> Result<(), Unfillable> {
        let entry = self.header.e_entry.get(LE);
        let end = entry.checked_add((NOTICE_AFTER_ENTRY + NOTICE_BYTES) as u64);
        let within = |load: &ProgramHeader64<LE>| {
            let begin = load.p_vaddr.get(LE);
            load.p_flags.get(LE).contains(elf::PF_X)
                && entry >= begin
                && end.is_some_and(|end| end <= begin + load.p_filesz.get(LE))
        };
        if self.loads.iter().any(within) {
            Ok(())
        } else {
            Err(wrong("its entry point or stubs lie outside of its code"))
        }
    }

    /// Where in the file the function is that debuggers watch.
    pub(super) fn offset_of_notice(&self) -> u64 {
        let address = self.header.e_entry.get(LE) + NOTICE_AFTER_ENTRY as u64;
        let within = |load: &&ProgramHeader64<LE>| {
            (load.p_vaddr.get(LE)..load.p_vaddr.get(LE) + load.p_filesz.get(LE)).contains(&address)
        };
        let load = self.loads.iter().find(within);
        load.map_or(0, |load| address - load.p_vaddr.get(LE) + load.p_offset.get(LE))
    }

    /// The last segment.
    pub(super) fn data(&self) -> &ProgramHeader64<LE> {
        // That there is one was seen when it was read.
        &self.loads[self.loads.len() - 1]
    }

    /// Where its data ends, from its begin.
    pub(super) fn data_end(&self) -> u64 {
        self.data().p_vaddr.get(LE) + self.data().p_memsz.get(LE)
    }

    /// What is where when it lies at `base`.
    pub(super) fn places(&self, base: u64) -> Places {
        let cell = self.cell as u64 - self.data().p_offset.get(LE) + self.data().p_vaddr.get(LE);
        Places {
            scratch: base + cell + CELL_SCRATCH as u64,
            first_stub: base + self.header.e_entry.get(LE) + STUBS_AFTER_ENTRY as u64,
        }
    }

    /// What the kernel looks at, with the data made to end at `end`.
    pub(super) fn moved_segments(&self, base: u64, end: u64) -> Vec<ProgramHeader64<LE>> {
        let mut loads = self.loads.clone();
        for load in &mut loads {
            let begin = load.p_vaddr.get(LE);
            if begin == self.data().p_vaddr.get(LE) {
                load.p_filesz.set(LE, end - begin);
                load.p_memsz.set(LE, end - begin);
            }
            load.p_vaddr.set(LE, base + begin);
            load.p_paddr.set(LE, base + begin);
        }
        loads.extend(self.stack);
        loads
    }
}

/// Segments must rise from 0 without sharing a page, lie in the file, and only the last be writable or larger in memory.
fn check_loads(loads: &[ProgramHeader64<LE>], file: u64) -> Option<()> {
    const MOST_BSS: u64 = 1 << 20;
    let mut free_from = 0;
    for (index, load) in loads.iter().enumerate() {
        let (offset, begin) = (load.p_offset.get(LE), load.p_vaddr.get(LE));
        let (in_file, in_memory) = (load.p_filesz.get(LE), load.p_memsz.get(LE));
        let is_last = index + 1 == loads.len();
        let sound = begin - begin % PAGE >= free_from
            && begin < 1 << 32
            && offset % PAGE == begin % PAGE
            && offset.checked_add(in_file)? <= file
            && load.p_flags.get(LE).contains(elf::PF_W) == is_last
            && (index > 0 || begin < PAGE)
            && in_memory >= in_file
            && in_memory - in_file <= if is_last { MOST_BSS } else { 0 };
        if !sound {
            return None;
        }
        free_from = begin.checked_add(in_memory)?.checked_next_multiple_of(PAGE)?;
    }
    Some(())
}

/// The cell in the data that begins at `begin`; there must be one.
fn find_cell(content: &[u8], begin: usize) -> Result<usize, Unfillable> {
    let size = CELL_SCRATCH + 8;
    let mut found = (begin.next_multiple_of(8)..content.len().saturating_sub(size - 1))
        .step_by(8)
        .filter(|&at| {
            content
                .get(at..)
                .is_some_and(|rest| rest.starts_with(&CELL_MAGIC))
        });
    match (found.next(), found.next()) {
        (Some(cell), None) if content.get(cell + CELL_PLAN..cell + size) == Some(&[0; 16]) => Ok(cell),
        (Some(_), None) => Err(wrong("it is filled already")),
        _ => Err(wrong("it has no cell for the address of the plan")),
    }
}

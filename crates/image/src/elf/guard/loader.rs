//! How a loader is to be mapped: what the kernel does with an interpreter, worked out beforehand.
//!
//! Source: `load_elf_interp` in `fs/binfmt_elf.c` of Linux.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::pod;

use super::layout::ANONYMOUS;
use super::{Identity, PAGE, Unfillable};

/// A loader, ready to be mapped. What is asked for as an address counts from its load address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// Where the file is.
    pub(super) path: String,
    pub(super) identity: Identity,
    pub(super) entry: u64,
    /// Bytes of address space, in whole pages.
    pub(super) span: u64,
    /// Address, length, protection, and offset in the file or [`ANONYMOUS`]; all but the protection on pages. The first
    /// begins at 0.
    pub(super) pieces: Vec<[u64; 4]>,
    /// Address and length of what must be zeroed at the end of pieces.
    pub(super) zeroes: Vec<[u64; 2]>,
}

const fn unfit(why: &'static str) -> Unfillable {
    Unfillable::Loader(why)
}

impl Loader {
    /// Reads a loader's program headers.
    ///
    /// # Errors
    /// [`Unfillable::Loader`] when it is not a shared library whose segments lie side by side, as those of every glibc do.
    pub fn read(path: &str, identity: Identity, bytes: &[u8]) -> Result<Self, Unfillable> {
        let (header, _) =
            pod::from_bytes::<FileHeader64<LE>>(bytes).map_err(|()| unfit("it has no header"))?;
        let ident = &header.e_ident;
        if ident.magic != elf::ELFMAG
            || ident.class != elf::ELFCLASS64
            || ident.data != elf::ELFDATA2LSB
            || header.e_type.get(LE) != elf::ET_DYN
        {
            return Err(unfit("it is not a 64-bit little-endian shared library"));
        }
        let mut loader = Self {
            path: path.to_owned(),
            identity,
            ..Self::default()
        };
        for segment in segments(header, bytes).ok_or(unfit("its program headers lie outside of it"))? {
            if segment.p_type.get(LE) == elf::PT_LOAD {
                loader.add(segment, bytes.len() as u64).ok_or(unfit(
                    "its segments do not lie side by side in the file and in memory",
                ))?;
            }
        }
        loader.entry = header.e_entry.get(LE);
        if loader.entry >= loader.span {
            return Err(unfit("its entry point lies outside of it"));
        }
        Ok(loader)
    }

    /// Adds a segment; nothing when it is not as expected.
    fn add(&mut self, segment: &ProgramHeader64<LE>, file: u64) -> Option<()> {
        let (offset, begin) = (segment.p_offset.get(LE), segment.p_vaddr.get(LE));
        let (in_file, in_memory) = (segment.p_filesz.get(LE), segment.p_memsz.get(LE));
        let flags = segment.p_flags.get(LE);
        let page = begin - begin % PAGE;
        let zero_from = begin.checked_add(in_file)?;
        let end = begin.checked_add(in_memory)?;
        let mapped_end = zero_from.checked_next_multiple_of(PAGE)?;
        let page_end = end.checked_next_multiple_of(PAGE)?;
        let writable = flags.contains(elf::PF_W);
        let sound = page == self.span
            && offset % PAGE == begin % PAGE
            && in_file > 0
            && in_memory >= in_file
            && offset.checked_add(in_file)? <= file
            && page_end < 1 << 32
            && (writable || in_memory == in_file);
        if !sound {
            return None;
        }
        // PROT_READ, PROT_WRITE and PROT_EXEC are 1, 2 and 4; the flags of a segment go the other way round.
        let protection = [(elf::PF_R, 1), (elf::PF_W, 2), (elf::PF_X, 4)]
            .iter()
            .filter(|(flag, _)| flags.contains(*flag))
            .map(|(_, bit)| bit)
            .sum();
        self.pieces
            .push([page, mapped_end - page, protection, offset - offset % PAGE]);
        if in_memory > in_file && zero_from < mapped_end {
            self.zeroes.push([zero_from, mapped_end - zero_from]);
        }
        if page_end > mapped_end {
            self.pieces
                .push([mapped_end, page_end - mapped_end, protection, ANONYMOUS]);
        }
        self.span = page_end;
        Some(())
    }
}

/// The program headers of a file.
pub(super) fn segments<'a>(header: &FileHeader64<LE>, bytes: &'a [u8]) -> Option<&'a [ProgramHeader64<LE>]> {
    if usize::from(header.e_phentsize.get(LE)) != size_of::<ProgramHeader64<LE>>() {
        return None;
    }
    let first = usize::try_from(header.e_phoff.get(LE)).ok()?;
    let count = usize::from(header.e_phnum.get(LE));
    let (segments, _) = pod::slice_from_bytes(bytes.get(first..)?, count).ok()?;
    Some(segments)
}

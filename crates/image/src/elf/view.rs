//! A file through its program headers: which of its bytes the loader would map at an address.
//!
//! All tables of the dynamic section are given by address. The loader maps the segments and follows the addresses; here the
//! same address leads to the file's own bytes, cut at the end of the segment, so that no table can lead out of the file.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::pod::{self, Pod};

use super::dynamic::Dynamic;
use super::{Budget, Unreadable};

/// The processors whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Machine {
    /// As the rest of the world spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}

/// What a file is to the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program at fixed addresses, with libraries.
    Program,
    /// A program that can be loaded anywhere, with libraries.
    Pie,
    /// A program at fixed addresses without libraries.
    Static,
    /// A program without libraries that relocates itself.
    StaticPie,
    /// A shared library.
    Library,
}

/// A file that has been understood so far that its tables can be found.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    machine: Machine,
    fixed: bool,
    segments: &'a [ProgramHeader64<LE>],
    pub(super) dynamic: Dynamic,
}

const OUTSIDE: Unreadable = Unreadable::Damaged("a table lies outside of its segment");

impl<'a> Image<'a> {
    /// Reads the headers and the dynamic table.
    ///
    /// # Errors
    /// What kind of file it is instead, or what is wrong with it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let (header, _) = pod::from_bytes::<FileHeader64<LE>>(bytes).map_err(|()| match bytes {
            [0x7f, b'E', b'L', b'F', ..] => Unreadable::Damaged("it ends within its header"),
            _ => Unreadable::NotElf,
        })?;
        let ident = &header.e_ident;
        if ident.magic != elf::ELFMAG {
            return Err(Unreadable::NotElf);
        } else if ident.class == elf::ELFCLASS32 {
            return Err(Unreadable::Bits32);
        } else if ident.data == elf::ELFDATA2MSB {
            return Err(Unreadable::BigEndian);
        } else if ident.class != elf::ELFCLASS64 || ident.data != elf::ELFDATA2LSB {
            return Err(Unreadable::Damaged("its header names neither 32 nor 64 bits"));
        }
        let machine = match header.e_machine.get(LE) {
            elf::EM_X86_64 => Machine::X86_64,
            elf::EM_AARCH64 => Machine::Aarch64,
            other => return Err(Unreadable::Machine(other.0)),
        };
        let fixed = match header.e_type.get(LE) {
            elf::ET_EXEC => true,
            elf::ET_DYN => false,
            _ => return Err(Unreadable::NotLoadable),
        };
        if usize::from(header.e_phentsize.get(LE)) != size_of::<ProgramHeader64<LE>>() {
            return Err(Unreadable::Damaged("its program headers are of another size"));
        }
        let first = usize::try_from(header.e_phoff.get(LE)).map_err(|_| OUTSIDE)?;
        let count = usize::from(header.e_phnum.get(LE));
        let (segments, _) = bytes
            .get(first..)
            .and_then(|rest| pod::slice_from_bytes::<ProgramHeader64<LE>>(rest, count).ok())
            .ok_or(Unreadable::Damaged("its program headers lie outside of it"))?;
        let mut image = Self {
            bytes,
            machine,
            fixed,
            segments,
            dynamic: Dynamic::default(),
        };
        if let Some(segment) = image.segment(elf::PT_DYNAMIC) {
            image.dynamic = Dynamic::read(image.contents(segment)?);
        }
        Ok(image)
    }

    /// The file.
    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The program headers.
    pub(super) const fn segments(&self) -> &'a [ProgramHeader64<LE>] {
        self.segments
    }

    /// The processor that it is for.
    #[must_use]
    pub const fn machine(&self) -> Machine {
        self.machine
    }

    /// What the loader takes it for. A program without libraries has no interpreter; that a file without one is a program
    /// is said by `DF_1_PIE`, which linkers set since 2019; an older static-pie passes for a library.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.segment(elf::PT_INTERP).is_some(), self.fixed) {
            (true, true) => Kind::Program,
            (false, true) => Kind::Static,
            // A library may name an interpreter so that it can be started too, as libc.so.6 does.
            (true, false) if self.is_pie() || self.dynamic.soname.is_none() => Kind::Pie,
            (false, false) if self.is_pie() => Kind::StaticPie,
            (_, false) => Kind::Library,
        }
    }

    /// Whether the linker marked it as a program (`DF_1_PIE`); the loader refuses such a file as a library.
    #[must_use]
    pub const fn is_pie(&self) -> bool {
        self.dynamic.flags_1 & elf::DF_1_PIE.0 != 0
    }

    /// Whether it is at fixed addresses (`ET_EXEC`).
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// The address of its dynamic table; 0 when it has none.
    #[must_use]
    pub fn dynamic_address(&self) -> u64 {
        self.segment(elf::PT_DYNAMIC)
            .map_or(0, |segment| segment.p_vaddr.get(LE))
    }

    /// Whether it has a dynamic table, without which nothing can be loaded as a library.
    #[must_use]
    pub fn has_dynamic(&self) -> bool {
        self.segment(elf::PT_DYNAMIC).is_some()
    }

    /// The loader that it asks for (`PT_INTERP`).
    #[must_use]
    pub fn interpreter(&self) -> Option<String> {
        let text = self.contents(self.segment(elf::PT_INTERP)?).ok()?;
        Some(lossy(until_nul(text)?))
    }

    /// The address that it asks for: of its lowest segment; 0 for any.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.loads().map(|load| load.p_vaddr.get(LE)).min().unwrap_or(0)
    }

    /// How many segments are mapped.
    #[must_use]
    pub fn mappings(&self) -> u64 {
        self.loads().count() as u64
    }

    /// Size of its thread-local variables in bytes (`PT_TLS`), if it has any.
    #[must_use]
    pub fn tls(&self) -> Option<u64> {
        self.segment(elf::PT_TLS).map(|segment| segment.p_memsz.get(LE))
    }

    /// The identity that the linker gave it (`NT_GNU_BUILD_ID`), hexadecimal.
    #[must_use]
    pub fn build_id(&self) -> Option<String> {
        self.segments
            .iter()
            .filter(|segment| segment.p_type.get(LE) == elf::PT_NOTE)
            .find_map(|segment| {
                let align = segment.p_align.get(LE);
                build_id(
                    self.contents(segment).ok()?,
                    usize::try_from(align).ok()?.clamp(4, 8),
                )
            })
    }

    /// Whether the loader has to write to its code (`DT_TEXTREL`).
    #[must_use]
    pub const fn has_textrel(&self) -> bool {
        self.dynamic.textrel
    }

    /// A budget for work on this file.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        Budget::of(self.bytes.len() as u64)
    }

    /// Size of the file in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// About how many bytes of tables the loader reads: symbols and their texts, relocations; not more than there are.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let dynamic = &self.dynamic;
        let between = dynamic.strings.saturating_sub(dynamic.symbols);
        [
            between,
            dynamic.strings_size,
            dynamic.relocations.1,
            dynamic.functions.1,
            dynamic.packed.1,
        ]
        .iter()
        .fold(0_u64, |sum, size| sum.saturating_add(*size))
        .min(self.size())
    }

    /// A text of the string table (`DT_STRTAB`); empty when the offset leads out of it.
    pub(super) fn text(&self, offset: u64) -> &'a [u8] {
        usize::try_from(offset)
            .ok()
            .and_then(|offset| until_nul(self.strings().get(offset..)?))
            .unwrap_or_default()
    }

    /// The string table, to the end of its segment, as the loader could read on.
    pub(super) fn strings(&self) -> &'a [u8] {
        self.at(self.dynamic.strings)
    }

    /// What is mapped at an address, to the end of its segment; empty where nothing of the file is.
    pub(super) fn at(&self, address: u64) -> &'a [u8] {
        self.loads()
            .find_map(|load| {
                let within = address.checked_sub(load.p_vaddr.get(LE))?;
                if within >= load.p_filesz.get(LE) {
                    return None;
                }
                self.contents(load).ok()?.get(usize::try_from(within).ok()?..)
            })
            .unwrap_or_default()
    }

    /// A table of so many bytes at an address.
    pub(super) fn table<T: Pod>(&self, address: u64, size: u64) -> Result<&'a [T], Unreadable> {
        let count = usize::try_from(size).map_err(|_| OUTSIDE)? / size_of::<T>();
        if count == 0 {
            return Ok(&[]);
        }
        let (table, _) = pod::slice_from_bytes(self.at(address), count).map_err(|()| OUTSIDE)?;
        Ok(table)
    }

    /// The segments that are mapped.
    pub(super) fn loads(&self) -> impl Iterator<Item = &'a ProgramHeader64<LE>> + use<'a> {
        self.segments
            .iter()
            .filter(|segment| segment.p_type.get(LE) == elf::PT_LOAD)
    }

    /// The first program header of a type.
    pub(super) fn segment(&self, kind: elf::ProgramType) -> Option<&'a ProgramHeader64<LE>> {
        self.segments
            .iter()
            .find(|segment| segment.p_type.get(LE) == kind)
    }

    /// What the file has of a segment.
    pub(super) fn contents(&self, segment: &ProgramHeader64<LE>) -> Result<&'a [u8], Unreadable> {
        let range = |at: u64, size: u64| {
            let begin = usize::try_from(at).ok()?;
            self.bytes.get(begin..)?.get(..usize::try_from(size).ok()?)
        };
        range(segment.p_offset.get(LE), segment.p_filesz.get(LE))
            .ok_or(Unreadable::Damaged("a segment lies outside of the file"))
    }
}

/// What stands before the first zero byte; nothing where there is none.
pub(super) fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(..bytes.iter().position(|&byte| byte == 0)?)
}

/// A name for people and for paths. Names that are not UTF-8 exist in no distribution; they lose what is odd about them.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The identity in a segment of notes: entries of name size, content size, type, name, content, each padded.
fn build_id(mut notes: &[u8], align: usize) -> Option<String> {
    let word = |notes: &[u8], at: usize| {
        let bytes: [u8; 4] = notes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    while let (Some(name_size), Some(size), Some(kind)) = (word(notes, 0), word(notes, 4), word(notes, 8)) {
        let name = notes.get(12..)?.get(..name_size)?;
        let begin = 12_usize.checked_add(name_size)?.checked_next_multiple_of(align)?;
        let content = notes.get(begin..)?.get(..size)?;
        if name == b"GNU\0" && kind == elf::NT_GNU_BUILD_ID.0 as usize {
            return Some(content.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(begin.checked_add(size)?.checked_next_multiple_of(align)?..)?;
    }
    None
}

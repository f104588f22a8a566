//! What a loader has to do for one file, counted.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64};
use object::pe;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::read::pe::{ImageThunkData, PeFile64};

use crate::generate::names::{self, contains};

/// Counts of one file. "Of the set" are the names that [`names`] makes; a program's start files and its C library bring others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Functions of the set that are imported.
    pub imports: u64,
    /// Among them, by ordinal.
    pub by_ordinal: u64,
    /// All other imported functions and variables.
    pub other_imports: u64,
    /// Relative relocations (ELF, packed ones included) or fixups of 8 bytes (PE).
    pub relative: u64,
    /// References to variables of the set by symbol.
    pub variables: u64,
    /// The address that the file asks for; 0 for any.
    pub base: u64,
    /// The interpreter's promise that packed relocations need is missing (`GLIBC_ABI_DT_RELR`): glibc refuses such a file.
    pub relr_without_promise: bool,
}

/// Why a file cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is neither a 64-bit little-endian ELF nor a PE32+ file.
    #[error("it is neither a 64-bit ELF file (x86-64, AArch64) nor a 64-bit PE file")]
    Kind,
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::read::Error> for Unreadable {
    fn from(error: object::read::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// How much more a file may make us look at. A sound file has each entry once; a hostile one can point at the same
/// table from everywhere.
struct Budget(usize);

impl Budget {
    /// Entries and characters of names: a long name may be referred to by many entries.
    const fn of(bytes: &[u8]) -> Self {
        Self(bytes.len().saturating_mul(64))
    }

    fn spend(&mut self, entries: usize) -> Result<(), Unreadable> {
        self.0 = self
            .0
            .checked_sub(entries)
            .ok_or_else(|| Unreadable::Damaged("its tables overlap".to_owned()))?;
        Ok(())
    }
}

/// Counts a file, in time proportional to its size.
///
/// # Errors
/// When it is of another kind, or damaged.
pub fn count(bytes: &[u8]) -> Result<Counts, Unreadable> {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] => elf(bytes),
        [b'M', b'Z', ..] => pe(bytes),
        _ => Err(Unreadable::Kind),
    }
}

type Kind = elf::RelocationType;

/// The types of a machine's relocations: relative, to a function or any address, to an address in data.
fn types(machine: elf::Machine) -> Option<(Kind, [Kind; 2], Kind)> {
    match machine {
        elf::EM_X86_64 => Some((
            elf::R_X86_64_RELATIVE,
            [elf::R_X86_64_JUMP_SLOT, elf::R_X86_64_GLOB_DAT],
            elf::R_X86_64_64,
        )),
        elf::EM_AARCH64 => Some((
            elf::R_AARCH64_RELATIVE,
            [elf::R_AARCH64_JUMP_SLOT, elf::R_AARCH64_GLOB_DAT],
            elf::R_AARCH64_ABS64,
        )),
        _ => None,
    }
}

fn elf(bytes: &[u8]) -> Result<Counts, Unreadable> {
    let header = FileHeader64::<LE>::parse(bytes).map_err(|_| Unreadable::Kind)?;
    let (relative, slots, address) = types(header.e_machine(LE)).ok_or(Unreadable::Kind)?;
    let sections = header.sections(LE, bytes)?;
    let symbols = sections.symbols(LE, bytes, elf::SHT_DYNSYM)?;
    let mut counts = Counts {
        base: lowest(header, bytes)?,
        ..Counts::default()
    };
    let mut imported = std::collections::BTreeSet::new();
    let mut packed = false;
    let mut budget = Budget::of(bytes);
    for section in sections.iter() {
        if let Some((entries, _)) = section.rela(LE, bytes)? {
            budget.spend(entries.len())?;
            for entry in entries {
                let kind = entry.r_type(LE, false);
                if kind == relative {
                    counts.relative += 1;
                } else if slots.contains(&kind) || kind == address {
                    let symbol = symbols.symbol(object::SymbolIndex(entry.r_sym(LE, false) as usize))?;
                    let name = symbol.name(LE, symbols.strings())?;
                    budget.spend(name.len())?;
                    if kind == address && names::is_variable(name) {
                        counts.variables += 1;
                    } else if symbol.is_undefined(LE) {
                        imported.insert(name);
                    }
                }
            }
        } else if section.sh_type(LE) == elf::SHT_RELR {
            packed = true;
            let words: &[object::U64<LE>] = section.data_as_array(LE, bytes)?;
            budget.spend(words.len())?;
            counts.relative += words.iter().map(|word| packed_in(word.get(LE))).sum::<u64>();
        }
    }
    counts.imports = imported.iter().filter(|name| names::is_function(name)).count() as u64;
    counts.other_imports = imported.len() as u64 - counts.imports;
    // A library without any need of the C library makes no promise either, and glibc asks only those that need it.
    let needs_libc = contains(bytes, b"libc.so.6\0");
    counts.relr_without_promise = packed && needs_libc && !contains(bytes, b"GLIBC_ABI_DT_RELR\0");
    Ok(counts)
}

/// Relocations in one word of a packed table: an even word is an address, an odd one a map of the 63 words behind it.
fn packed_in(word: u64) -> u64 {
    if word & 1 == 0 {
        1
    } else {
        u64::from((word >> 1).count_ones())
    }
}

/// The lowest address of the file's segments.
fn lowest(header: &FileHeader64<LE>, bytes: &[u8]) -> Result<u64, Unreadable> {
    use object::read::elf::ProgramHeader;
    Ok(header
        .program_headers(LE, bytes)?
        .iter()
        .filter(|segment| segment.p_type(LE) == elf::PT_LOAD)
        .map(|segment| segment.p_vaddr(LE))
        .min()
        .unwrap_or(0))
}

fn pe(bytes: &[u8]) -> Result<Counts, Unreadable> {
    let file = PeFile64::parse(bytes).map_err(|_| Unreadable::Kind)?;
    let mut counts = Counts {
        base: object::Object::relative_address_base(&file),
        ..Counts::default()
    };
    let mut budget = Budget::of(bytes);
    if let Some(table) = file.import_table()? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()? {
            let library = table.name(descriptor.name.get(LE))?;
            let ours = library.starts_with(b"lib") && !library.starts_with(b"libgcc");
            let first = match descriptor.original_first_thunk.get(LE) {
                0 => descriptor.first_thunk.get(LE),
                names => names,
            };
            let mut thunks = table.thunks(first)?;
            while let Some(thunk) = thunks.next::<pe::ImageNtHeaders64>()? {
                budget.spend(1)?;
                let by_ordinal = thunk.is_ordinal();
                let of_set = if by_ordinal {
                    ours
                } else {
                    let name = table.hint_name(thunk.address())?.1;
                    budget.spend(name.len())?;
                    names::is_function(name)
                };
                counts.imports += u64::from(of_set);
                counts.other_imports += u64::from(!of_set);
                counts.by_ordinal += u64::from(of_set && by_ordinal);
            }
        }
    }
    let sections = file.section_table();
    if let Some(mut blocks) = file.data_directories().relocation_blocks(bytes, &sections)? {
        while let Some(block) = blocks.next()? {
            budget.spend(1)?;
            counts.relative += block
                .filter(|entry| entry.typ == pe::IMAGE_REL_BASED_DIR64)
                .count() as u64;
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_word_is_one_address_or_a_map() {
        assert_eq!(packed_in(0x1000), 1);
        assert_eq!(packed_in(0b1011), 2);
        assert_eq!(packed_in(u64::MAX), 63);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        for bytes in [
            &b""[..],
            b"MZ",
            b"\x7fELF",
            b"#!/bin/sh\n",
            b"\x7fELF\x01\x01\x01",
        ] {
            assert!(count(bytes).is_err(), "{bytes:?}");
        }
    }
}

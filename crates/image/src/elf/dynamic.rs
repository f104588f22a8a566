//! The dynamic table: pairs of a tag and a value, by which the loader finds everything else.

use object::LittleEndian as LE;
use object::elf::{self, Dyn64};
use object::pod;

/// What the table says, as numbers: addresses, sizes in bytes, offsets into the string table. What is absent is 0 or `None`.
#[derive(Clone, Debug, Default)]
pub(in crate::elf) struct Dynamic {
    /// Offsets of the names of needed libraries, in order.
    pub(super) needed: Vec<u64>,
    /// Offsets of the names of filtered libraries (`DT_FILTER`, `DT_AUXILIARY`).
    pub(super) filters: Vec<u64>,
    pub(super) soname: Option<u64>,
    pub(super) rpath: Option<u64>,
    pub(super) runpath: Option<u64>,
    pub(super) strings: u64,
    /// Size of the string table. The loader does not look at it.
    pub(super) strings_size: u64,
    pub(super) symbols: u64,
    pub(super) hash: Option<u64>,
    pub(super) gnu_hash: Option<u64>,
    /// Address and size.
    pub(super) relocations: (u64, u64),
    /// The same for functions (`DT_JMPREL`), which may be bound when they are first called.
    pub(super) functions: (u64, u64),
    /// Their addresses (`DT_PLTGOT`).
    pub(super) functions_table: u64,
    /// The same for packed relative relocations (`DT_RELR`).
    pub(super) packed: (u64, u64),
    /// So many of the first relocations are relative, whatever their type says (`DT_RELACOUNT`).
    pub(super) relative: u64,
    pub(super) versions: Option<u64>,
    /// Address and number of entries.
    pub(super) defined: (u64, u64),
    pub(super) required: (u64, u64),
    pub(super) flags_1: u64,
    pub(super) static_tls: bool,
    pub(super) symbolic: bool,
    pub(super) bind_now: bool,
    pub(super) textrel: bool,
}

impl Dynamic {
    /// Reads the table, to its end mark. Unknown tags are passed over, as the loader does.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        let whole = bytes.len() / size_of::<Dyn64<LE>>();
        let (entries, _) = pod::slice_from_bytes::<Dyn64<LE>>(bytes, whole).unwrap_or_default();
        for entry in entries {
            let value = entry.d_val.get(LE);
            match entry.d_tag.get(LE) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => table.needed.push(value),
                elf::DT_FILTER | elf::DT_AUXILIARY => table.filters.push(value),
                elf::DT_SONAME => table.soname = Some(value),
                elf::DT_RPATH => table.rpath = Some(value),
                elf::DT_RUNPATH => table.runpath = Some(value),
                elf::DT_STRTAB => table.strings = value,
                elf::DT_STRSZ => table.strings_size = value,
                elf::DT_SYMTAB => table.symbols = value,
                elf::DT_HASH => table.hash = Some(value),
                elf::DT_GNU_HASH => table.gnu_hash = Some(value),
                elf::DT_RELA => table.relocations.0 = value,
                elf::DT_RELASZ => table.relocations.1 = value,
                elf::DT_RELACOUNT => table.relative = value,
                elf::DT_JMPREL => table.functions.0 = value,
                elf::DT_PLTGOT => table.functions_table = value,
                elf::DT_PLTRELSZ => table.functions.1 = value,
                elf::DT_RELR => table.packed.0 = value,
                elf::DT_RELRSZ => table.packed.1 = value,
                elf::DT_VERSYM => table.versions = Some(value),
                elf::DT_VERDEF => table.defined.0 = value,
                elf::DT_VERDEFNUM => table.defined.1 = value,
                elf::DT_VERNEED => table.required.0 = value,
                elf::DT_VERNEEDNUM => table.required.1 = value,
                elf::DT_SYMBOLIC => table.symbolic = true,
                elf::DT_BIND_NOW => table.bind_now = true,
                elf::DT_TEXTREL => table.textrel = true,
                elf::DT_FLAGS => {
                    table.symbolic |= value & elf::DF_SYMBOLIC.0 != 0;
                    table.bind_now |= value & elf::DF_BIND_NOW.0 != 0;
                    table.textrel |= value & elf::DF_TEXTREL.0 != 0;
                    table.static_tls |= value & elf::DF_STATIC_TLS.0 != 0;
                }
                elf::DT_FLAGS_1 => {
                    table.flags_1 = value;
                    table.bind_now |= value & elf::DF_1_NOW.0 != 0;
                }
                _ => {}
            }
        }
        table
    }

    /// The addresses of all tables, to see where one must end at the latest.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        [
            Some(self.strings),
            Some(self.symbols),
            self.hash,
            self.gnu_hash,
            Some(self.relocations.0),
            Some(self.functions.0),
            Some(self.packed.0),
            self.versions,
            Some(self.defined.0),
            Some(self.required.0),
        ]
        .into_iter()
        .flatten()
        .filter(|&address| address != 0)
    }
}

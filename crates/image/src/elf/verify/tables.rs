//! The tables of two files, entry by entry: an address must have moved as far as the file, all else must be the same.

use object::LittleEndian as LE;
use object::elf::{self, Dyn64, FileHeader64, ProgramHeader64, Sym64};
use object::pod;

use super::super::symbols::Symbols;
use super::super::view::{lossy, until_nul};
use super::super::{Image, Unreadable};
use super::areas;
use super::{Difference, Report, Value, What};

/// Entries of the dynamic table that a copy may have otherwise: what is to be loaded under which name, and how many relocations are left.
pub const FREE_TAGS: &[elf::DynamicTag] = &[
    elf::DT_NEEDED,
    elf::DT_RPATH,
    elf::DT_RUNPATH,
    elf::DT_RELA,
    elf::DT_RELASZ,
    elf::DT_RELAENT,
    elf::DT_RELACOUNT,
    elf::DT_RELR,
    elf::DT_RELRSZ,
    elf::DT_RELRENT,
    elf::DT_JMPREL,
    elf::DT_PLTREL,
    elf::DT_PLTRELSZ,
    elf::DT_TEXTREL,
];

/// The reason that goes with [`FREE_TAGS`].
pub const FREE_TAGS_REASON: &str =
    "entries of the dynamic table that say what to load and how many relocations are left";

/// Entries whose value is an address.
pub const ADDRESS_TAGS: &[elf::DynamicTag] = &[
    elf::DT_PLTGOT,
    elf::DT_HASH,
    elf::DT_GNU_HASH,
    elf::DT_SYMTAB,
    elf::DT_INIT,
    elf::DT_FINI,
    elf::DT_INIT_ARRAY,
    elf::DT_FINI_ARRAY,
    elf::DT_PREINIT_ARRAY,
    elf::DT_VERSYM,
    elf::DT_VERDEF,
    elf::DT_VERNEED,
    elf::DT_TLSDESC_PLT,
    elf::DT_TLSDESC_GOT,
    elf::DT_SYMTAB_SHNDX,
    // The table of procedures that newer linkers describe (`DT_X86_64_PLT`).
    elf::DynamicTag(0x7000_0000),
];

/// The smallest page of any processor that is read.
const PAGE: u64 = 4096;

/// A file and its copy, and where to tell what differs.
pub struct Tables<'r, 'a> {
    pub object: &'r str,
    pub original: &'r Image<'a>,
    pub copy: &'r Image<'a>,
    /// How far the copy was moved.
    pub shift: u64,
    pub report: &'r mut Report,
}

impl Tables<'_, '_> {
    /// Compares the ELF header, the program headers, the dynamic table and the dynamic symbols.
    pub fn compare(&mut self) -> Result<(), Unreadable> {
        self.header()?;
        self.program_headers();
        self.dynamic()?;
        self.strings();
        self.symbols()
    }

    /// Where an address of the original has to be in the copy.
    pub const fn moved(&self, address: u64) -> u64 {
        address.wrapping_add(self.shift)
    }

    /// Whether an address of the copy is in a segment that only the copy has: behind all that the original has.
    pub fn is_extra(&self, address: u64) -> bool {
        let behind = self.moved(areas::end(self.original));
        address >= behind && !self.copy.at(address).is_empty()
    }

    /// Compares a field.
    pub fn field(&mut self, table: &'static str, field: &'static str, index: u64, original: u64, copy: u64) {
        self.report.fields += 1;
        if original != copy {
            self.tell(
                What::Field { table, field, index },
                Value::Number(original),
                Value::Number(copy),
            );
        }
    }

    /// Compares an address; 0 stands for none.
    pub fn address(
        &mut self,
        table: &'static str,
        field: &'static str,
        index: u64,
        original: u64,
        copy: u64,
    ) {
        let expected = if original == 0 { 0 } else { self.moved(original) };
        self.field(table, field, index, expected, copy);
    }

    fn text(&mut self, table: &'static str, field: &'static str, index: u64, original: &[u8], copy: &[u8]) {
        self.report.fields += 1;
        if original != copy {
            self.tell(
                What::Field { table, field, index },
                Value::Text(lossy(original)),
                Value::Text(lossy(copy)),
            );
        }
    }

    fn tell(&mut self, what: What, original: Value, copy: Value) {
        self.report.differs(Difference {
            object: self.object.to_owned(),
            offset: 0,
            what,
            original,
            copy,
        });
    }

    /// A position-independent program may have become one at fixed addresses. Where the tables of headers are in the file is the copy's own
    /// matter; what stands in them is compared.
    fn header(&mut self) -> Result<(), Unreadable> {
        const TABLE: &str = "ELF header";
        let [original, copy] = [self.original, self.copy].map(|image| {
            pod::from_bytes::<FileHeader64<LE>>(image.bytes())
                .map(|(header, _)| header)
                .map_err(|()| Unreadable::NotElf)
        });
        let (original, copy) = (original?, copy?);
        let fixed = original.e_type.get(LE) == elf::ET_DYN && copy.e_type.get(LE) == elf::ET_EXEC;
        if fixed {
            self.report
                .skip("a position-independent file became one at fixed addresses", 1);
        } else {
            self.field(
                TABLE,
                "e_type",
                0,
                original.e_type.get(LE).0.into(),
                copy.e_type.get(LE).0.into(),
            );
        }
        // The header begins with it.
        let ident = |image: &Image<'_>| {
            let (words, _) = image.bytes().as_chunks();
            [0, 1].map(|index| words.get(index).map_or(0, |word| u64::from_le_bytes(*word)))
        };
        let [first, second] = [self.original, self.copy].map(ident);
        self.field(TABLE, "e_ident", 0, first[0], second[0]);
        self.field(TABLE, "e_ident", 1, first[1], second[1]);
        self.address(
            TABLE,
            "e_entry",
            0,
            original.e_entry.get(LE),
            copy.e_entry.get(LE),
        );
        for (name, field) in [
            (
                "e_machine",
                [original, copy].map(|header| u64::from(header.e_machine.get(LE).0)),
            ),
            (
                "e_version",
                [original, copy].map(|header| header.e_version.get(LE).into()),
            ),
            (
                "e_flags",
                [original, copy].map(|header| header.e_flags.get(LE).0.into()),
            ),
            (
                "e_ehsize",
                [original, copy].map(|header| header.e_ehsize.get(LE).into()),
            ),
            (
                "e_phentsize",
                [original, copy].map(|header| header.e_phentsize.get(LE).into()),
            ),
        ] {
            self.field(TABLE, name, 0, field[0], field[1]);
        }
        Ok(())
    }

    /// Those of the original in the same order; the copy may have more segments to be mapped, behind them.
    fn program_headers(&mut self) {
        const TABLE: &str = "program headers";
        let behind = self.moved(areas::end(self.original));
        let extra = |header: &&ProgramHeader64<LE>| {
            header.p_type.get(LE) == elf::PT_LOAD && header.p_vaddr.get(LE) >= behind
        };
        let copies: Vec<_> = self
            .copy
            .segments()
            .iter()
            .filter(|header| !extra(header))
            .collect();
        let extras = self.copy.segments().len() - copies.len();
        self.report.skip("segments that only the copy has", extras as u64);
        let originals = self.original.segments();
        self.field(TABLE, "number", 0, originals.len() as u64, copies.len() as u64);
        for ((index, original), copy) in (0..).zip(originals).zip(copies) {
            let kind = original.p_type.get(LE);
            self.field(
                TABLE,
                "p_type",
                index,
                kind.0.into(),
                copy.p_type.get(LE).0.into(),
            );
            self.field(
                TABLE,
                "p_flags",
                index,
                original.p_flags.get(LE).0.into(),
                copy.p_flags.get(LE).0.into(),
            );
            self.alignment(index, original, copy);
            match kind {
                elf::PT_PHDR => self.own_headers(index, copy),
                elf::PT_DYNAMIC if self.is_extra(copy.p_vaddr.get(LE)) => self.own_dynamic(index, copy),
                elf::PT_INTERP if copy.p_offset.get(LE) != original.p_offset.get(LE) => {
                    self.interpreter(index, original, copy);
                }
                _ => {
                    // The stack has no address, but a segment may begin at 0.
                    let has_address = kind != elf::PT_GNU_STACK;
                    let moved = |address: u64| address.wrapping_add(if has_address { self.shift } else { 0 });
                    let (address, physical) =
                        (moved(original.p_vaddr.get(LE)), moved(original.p_paddr.get(LE)));
                    self.field(TABLE, "p_vaddr", index, address, copy.p_vaddr.get(LE));
                    self.field(TABLE, "p_paddr", index, physical, copy.p_paddr.get(LE));
                    self.field(
                        TABLE,
                        "p_offset",
                        index,
                        original.p_offset.get(LE),
                        copy.p_offset.get(LE),
                    );
                    self.field(
                        TABLE,
                        "p_filesz",
                        index,
                        original.p_filesz.get(LE),
                        copy.p_filesz.get(LE),
                    );
                    self.field(
                        TABLE,
                        "p_memsz",
                        index,
                        original.p_memsz.get(LE),
                        copy.p_memsz.get(LE),
                    );
                }
            }
        }
    }

    /// The copy's table may have been moved to make room: its entry has to lead to it.
    fn own_headers(&mut self, index: u64, copy: &ProgramHeader64<LE>) {
        const TABLE: &str = "program headers, own entry";
        let (start, size) = areas::program_headers(self.copy);
        self.field(TABLE, "p_offset", index, start, copy.p_offset.get(LE));
        self.field(TABLE, "p_filesz", index, size, copy.p_filesz.get(LE));
        self.field(TABLE, "p_memsz", index, size, copy.p_memsz.get(LE));
        self.field(
            TABLE,
            "p_paddr",
            index,
            copy.p_vaddr.get(LE),
            copy.p_paddr.get(LE),
        );
        let mapped = usize::try_from(size)
            .ok()
            .and_then(|size| self.copy.at(copy.p_vaddr.get(LE)).get(..size));
        let leads_there =
            mapped.is_some_and(|mapped| mapped.as_ptr().addr() == self.copy.segments().as_ptr().addr());
        self.field(TABLE, "p_vaddr", index, 1, leads_there.into());
    }

    /// The loader takes a larger alignment of a segment for a reason to look for another place; a copy may do without.
    fn alignment(&mut self, index: u64, original: &ProgramHeader64<LE>, copy: &ProgramHeader64<LE>) {
        let (align, other) = (original.p_align.get(LE), copy.p_align.get(LE));
        if original.p_type.get(LE) == elf::PT_LOAD && align > PAGE && other == PAGE {
            self.report
                .skip("alignments of segments, which became that of a page", 1);
        } else {
            self.field("program headers", "p_align", index, align, other);
        }
    }

    /// The copy's dynamic table may have been moved to make room; its entries are compared wherever they are.
    fn own_dynamic(&mut self, index: u64, copy: &ProgramHeader64<LE>) {
        const TABLE: &str = "program headers, dynamic table";
        let there = self.copy.at(copy.p_vaddr.get(LE)).as_ptr().addr() - self.copy.bytes().as_ptr().addr();
        self.field(TABLE, "p_offset", index, there as u64, copy.p_offset.get(LE));
        self.field(
            TABLE,
            "p_paddr",
            index,
            copy.p_vaddr.get(LE),
            copy.p_paddr.get(LE),
        );
        self.field(
            TABLE,
            "p_memsz",
            index,
            copy.p_filesz.get(LE),
            copy.p_memsz.get(LE),
        );
        self.report.skip("the dynamic table, which stands elsewhere", 1);
    }

    /// The copy may name another interpreter for the kernel, which goes by the place in the file. The loader goes by the address, where the old
    /// name still is.
    fn interpreter(&mut self, index: u64, original: &ProgramHeader64<LE>, copy: &ProgramHeader64<LE>) {
        const TABLE: &str = "program headers, interpreter";
        let name = usize::try_from(copy.p_offset.get(LE))
            .ok()
            .and_then(|start| until_nul(self.copy.bytes().get(start..)?));
        let length = name.map_or(0, |name| name.len() as u64 + 1);
        self.field(TABLE, "p_filesz", index, length, copy.p_filesz.get(LE));
        self.field(
            TABLE,
            "p_vaddr",
            index,
            self.moved(original.p_vaddr.get(LE)),
            copy.p_vaddr.get(LE),
        );
        self.field(
            TABLE,
            "p_paddr",
            index,
            self.moved(original.p_paddr.get(LE)),
            copy.p_paddr.get(LE),
        );
        self.field(
            TABLE,
            "p_memsz",
            index,
            original.p_memsz.get(LE),
            copy.p_memsz.get(LE),
        );
        self.report.skip("the interpreter's name, which is another", 1);
    }

    fn dynamic(&mut self) -> Result<(), Unreadable> {
        let [original, copy] = [entries(self.original)?, entries(self.copy)?];
        let all = original.len() as u64;
        let kept = |entries: Vec<(elf::DynamicTag, u64)>| -> Vec<_> {
            entries
                .into_iter()
                .filter(|(tag, _)| !FREE_TAGS.contains(tag))
                .collect()
        };
        let (original, copy) = (kept(original), kept(copy));
        self.report.skip(FREE_TAGS_REASON, all - original.len() as u64);
        self.free_entries()?;
        self.field(
            "dynamic table",
            "number",
            0,
            original.len() as u64,
            copy.len() as u64,
        );
        for ((index, original), copy) in (0..).zip(&original).zip(&copy) {
            self.dynamic_entry(index, *original, *copy);
        }
        self.after_the_end()
    }

    /// What of the free entries is not free: the form of the relocations. Other names are counted.
    fn free_entries(&mut self) -> Result<(), Unreadable> {
        const TABLE: &str = "dynamic table";
        const RELA: u64 = 24;
        const NAMES: [elf::DynamicTag; 3] = [elf::DT_NEEDED, elf::DT_RPATH, elf::DT_RUNPATH];
        let (original, copy) = (entries(self.original)?, entries(self.copy)?);
        for &(tag, value) in &copy {
            let (name, expected) = match tag {
                elf::DT_RELAENT => ("DT_RELAENT", RELA),
                elf::DT_RELRENT => ("DT_RELRENT", areas::WORD),
                elf::DT_PLTREL => ("DT_PLTREL", elf::DT_RELA.0.cast_unsigned()),
                elf::DT_RELASZ => ("DT_RELASZ", value - value % RELA),
                elf::DT_PLTRELSZ => ("DT_PLTRELSZ", value - value % RELA),
                elf::DT_RELRSZ => ("DT_RELRSZ", value - value % areas::WORD),
                _ => continue,
            };
            self.field(TABLE, name, 0, expected, value);
        }
        let names = |image: &Image<'_>, entries: &[(elf::DynamicTag, u64)]| -> Vec<_> {
            let chosen = entries.iter().filter(|(tag, _)| NAMES.contains(tag));
            chosen.map(|&(tag, at)| (tag, image.text(at).to_vec())).collect()
        };
        let (first, second) = (names(self.original, &original), names(self.copy, &copy));
        let others = second.iter().filter(|name| !first.contains(name)).count();
        self.report.skip(
            "names of libraries to load and of folders to search that only the copy has",
            others as u64,
        );
        let missing = first.iter().filter(|name| !second.contains(name)).count();
        self.report.skip(
            "names of libraries to load and of folders to search that only the original has",
            missing as u64,
        );
        Ok(())
    }

    fn dynamic_entry(&mut self, index: u64, original: (elf::DynamicTag, u64), copy: (elf::DynamicTag, u64)) {
        const TABLE: &str = "dynamic table";
        self.field(
            TABLE,
            "d_tag",
            index,
            original.0.0.cast_unsigned(),
            copy.0.0.cast_unsigned(),
        );
        match original.0 {
            // Compared by what stands there.
            elf::DT_STRTAB | elf::DT_STRSZ => {}
            elf::DT_SONAME => {
                let (first, second) = (self.original.text(original.1), self.copy.text(copy.1));
                self.text(TABLE, "DT_SONAME", index, first, second);
            }
            elf::DT_FLAGS_1 if self.copy.is_fixed() && !self.original.is_fixed() => {
                // What is at a fixed address is no longer position independent, whether it says so or not.
                let pie = elf::DF_1_PIE.0;
                self.field(TABLE, "DT_FLAGS_1", index, original.1 | pie, copy.1 | pie);
            }
            tag if ADDRESS_TAGS.contains(&tag) => self.address(TABLE, "d_ptr", index, original.1, copy.1),
            _ => self.field(TABLE, "d_val", index, original.1, copy.1),
        }
    }

    /// Behind the end mark nothing may be hidden.
    fn after_the_end(&mut self) -> Result<(), Unreadable> {
        let rest = |image: &Image<'_>| -> Result<u64, Unreadable> {
            // The end mark's own value included.
            let used = entries(image)?.len() * size_of::<Dyn64<LE>>() + size_of::<u64>();
            let bytes = dynamic_bytes(image)?;
            Ok(bytes
                .get(used..)
                .unwrap_or_default()
                .iter()
                .filter(|&&byte| byte != 0)
                .count() as u64)
        };
        let (original, copy) = (rest(self.original)?, rest(self.copy)?);
        self.field("dynamic table", "bytes behind its end", 0, original, copy);
        Ok(())
    }

    /// The copy's strings begin with the original's, wherever they are.
    fn strings(&mut self) {
        let size = self.original.dynamic.strings_size;
        let of = |image: &Image<'_>| {
            usize::try_from(size)
                .ok()
                .and_then(|size| Some(image.strings().get(..size)?.to_vec()))
        };
        self.report.fields += 1;
        let copied = self.copy.dynamic.strings_size;
        let moved = self.copy.dynamic.strings != self.moved(self.original.dynamic.strings);
        let there = usize::try_from(copied).is_ok_and(|copied| self.copy.strings().len() >= copied);
        // A table that stands where it stood has no room to grow.
        let enough = there && if moved { copied >= size } else { copied == size };
        if of(self.original) != of(self.copy) || !enough {
            self.tell(What::Table("the dynamic strings"), Value::Absent, Value::Absent);
        }
    }

    fn symbols(&mut self) -> Result<(), Unreadable> {
        const TABLE: &str = "dynamic symbols";
        let [original, copy] = [Symbols::read(self.original)?, Symbols::read(self.copy)?];
        self.field(TABLE, "number", 0, original.count().into(), copy.count().into());
        for index in 0..original.count().min(copy.count()) {
            let (Some(first), Some(second)) = (original.entry(index), copy.entry(index)) else {
                continue;
            };
            // The strings are compared above.
            let names = [first, second].map(|symbol| symbol.st_name.get(LE).into());
            self.field(TABLE, "st_name", index.into(), names[0], names[1]);
            self.symbol(TABLE, index.into(), first, second);
        }
        Ok(())
    }

    /// A symbol but for its name. What is thread-local, absolute or common has no address.
    pub fn symbol(&mut self, table: &'static str, index: u64, original: &Sym64<LE>, copy: &Sym64<LE>) {
        let section = original.st_shndx.get(LE);
        self.field(
            table,
            "st_info",
            index,
            original.st_info.0.into(),
            copy.st_info.0.into(),
        );
        self.field(
            table,
            "st_other",
            index,
            original.st_other.0.into(),
            copy.st_other.0.into(),
        );
        self.field(
            table,
            "st_shndx",
            index,
            section.0.into(),
            copy.st_shndx.get(LE).0.into(),
        );
        self.field(
            table,
            "st_size",
            index,
            original.st_size.get(LE),
            copy.st_size.get(LE),
        );
        let (first, second) = (original.st_value.get(LE), copy.st_value.get(LE));
        let fixed = original.st_type() == elf::STT_TLS || matches!(section, elf::SHN_ABS | elf::SHN_COMMON);
        if fixed || (section == elf::SHN_UNDEF && first == 0) {
            self.field(table, "st_value", index, first, second);
        } else {
            self.field(table, "st_value", index, self.moved(first), second);
        }
    }
}

/// The entries of the dynamic table before its end mark.
pub fn entries(image: &Image<'_>) -> Result<Vec<(elf::DynamicTag, u64)>, Unreadable> {
    Ok(parse(dynamic_bytes(image)?))
}

/// The entries in such bytes before the end mark.
pub fn parse(bytes: &[u8]) -> Vec<(elf::DynamicTag, u64)> {
    let whole = bytes.len() / size_of::<Dyn64<LE>>();
    let (table, _) = pod::slice_from_bytes::<Dyn64<LE>>(bytes, whole).unwrap_or_default();
    let pairs = table
        .iter()
        .map(|entry| (entry.d_tag.get(LE), entry.d_val.get(LE)));
    pairs.take_while(|&(tag, _)| tag != elf::DT_NULL).collect()
}

fn dynamic_bytes<'a>(image: &Image<'a>) -> Result<&'a [u8], Unreadable> {
    image
        .segment(elf::PT_DYNAMIC)
        .map_or(Ok(&[]), |segment| image.contents(segment))
}

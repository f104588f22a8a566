//! The ELF header and the program headers of two files.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64};
use object::pod;

use super::super::view::until_nul;
use super::super::{Image, Unreadable};
use super::areas;
use super::tables::Tables;

/// The smallest page of any processor that is read.
const PAGE: u64 = 4096;

impl Tables<'_, '_> {
    /// A position-independent program may have become one at fixed addresses. Where the tables of headers are in the file is the copy's own
    /// matter; what stands in them is compared.
    pub(super) fn header(&mut self) -> Result<(), Unreadable> {
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
    pub(super) fn program_headers(&mut self) {
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
}

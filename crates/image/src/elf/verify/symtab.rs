//! Section headers and the symbols for debuggers, which no loader reads and every tool does.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, SectionHeader64, Sym64};
use object::pod::{self, Pod};

use super::super::{Image, Unreadable};
use super::tables::Tables;

/// Where in the file entries were compared, which are therefore not compared as bytes.
pub type Places = Vec<(u64, u64)>;

impl Tables<'_, '_> {
    /// Compares the section headers and the symbols of `.symtab`. A copy may have more sections, or no headers at all.
    pub fn sections(&mut self) -> Result<Places, Unreadable> {
        const TABLE: &str = "section headers";
        let mut places = Places::new();
        let [(originals, first), (copies, second)] = [headers(self.original)?, headers(self.copy)?];
        if !originals.is_empty() {
            let start = first.e_shoff.get(LE);
            places.push((start, start + size_of_val(originals) as u64));
        }
        if copies.is_empty() {
            self.report.skip(
                "section headers, which the copy does not have",
                originals.len() as u64,
            );
            return Ok(places);
        }
        self.field(
            TABLE,
            "e_shstrndx",
            0,
            first.e_shstrndx.get(LE).0.into(),
            second.e_shstrndx.get(LE).0.into(),
        );
        let missing = originals.len().saturating_sub(copies.len()) as u64;
        self.field(TABLE, "missing", 0, 0, missing);
        self.report.skip(
            "sections that only the copy has",
            copies.len().saturating_sub(originals.len()) as u64,
        );
        for ((index, original), copy) in (0..).zip(originals).zip(copies) {
            self.section(index, original, copy);
            if original.sh_type.get(LE) == elf::SHT_SYMTAB {
                let range =
                    |section: &SectionHeader64<LE>| (section.sh_offset.get(LE), section.sh_size.get(LE));
                let (start, size) = range(original);
                places.push((start, start.saturating_add(size)));
                let symbols = table::<Sym64<LE>>(self.original, range(original))?;
                let others = table::<Sym64<LE>>(self.copy, range(copy))?;
                for ((index, symbol), other) in (0..).zip(symbols).zip(others) {
                    const TABLE: &str = "symbols for debuggers";
                    self.field(
                        TABLE,
                        "st_name",
                        index,
                        symbol.st_name.get(LE).into(),
                        other.st_name.get(LE).into(),
                    );
                    self.symbol(TABLE, index, symbol, other);
                }
            }
        }
        Ok(places)
    }

    fn section(&mut self, index: u64, original: &SectionHeader64<LE>, copy: &SectionHeader64<LE>) {
        const TABLE: &str = "section headers";
        let kind = original.sh_type.get(LE);
        if original.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 == 0
            && copy.sh_type.get(LE) == elf::SHT_NULL
            && kind != elf::SHT_NULL
        {
            self.report.skip("sections that the copy has given up", 1);
            self.field(TABLE, "sh_size", index, 0, copy.sh_size.get(LE));
            return;
        }
        if self.is_extra(copy.sh_addr.get(LE)) {
            self.report
                .skip("sections that stand behind all others in the copy", 1);
            self.field(
                TABLE,
                "sh_type",
                index,
                kind.0.into(),
                copy.sh_type.get(LE).0.into(),
            );
            return;
        }
        let loaded = original.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 != 0;
        let address = original.sh_addr.get(LE);
        let expected = if loaded { self.moved(address) } else { address };
        self.field(
            TABLE,
            "sh_name",
            index,
            original.sh_name.get(LE).into(),
            copy.sh_name.get(LE).into(),
        );
        self.field(
            TABLE,
            "sh_type",
            index,
            kind.0.into(),
            copy.sh_type.get(LE).0.into(),
        );
        self.field(
            TABLE,
            "sh_flags",
            index,
            original.sh_flags.get(LE).0,
            copy.sh_flags.get(LE).0,
        );
        self.field(TABLE, "sh_addr", index, expected, copy.sh_addr.get(LE));
        self.field(
            TABLE,
            "sh_offset",
            index,
            original.sh_offset.get(LE),
            copy.sh_offset.get(LE),
        );
        self.field(
            TABLE,
            "sh_link",
            index,
            original.sh_link.get(LE).into(),
            copy.sh_link.get(LE).into(),
        );
        self.field(
            TABLE,
            "sh_info",
            index,
            original.sh_info.get(LE).into(),
            copy.sh_info.get(LE).into(),
        );
        self.field(
            TABLE,
            "sh_addralign",
            index,
            original.sh_addralign.get(LE),
            copy.sh_addralign.get(LE),
        );
        self.field(
            TABLE,
            "sh_entsize",
            index,
            original.sh_entsize.get(LE),
            copy.sh_entsize.get(LE),
        );
        let (size, other) = (original.sh_size.get(LE), copy.sh_size.get(LE));
        if loaded && matches!(kind, elf::SHT_RELA | elf::SHT_RELR) && other < size {
            self.report.skip("sections of relocations that became shorter", 1);
        } else {
            self.field(TABLE, "sh_size", index, size, other);
        }
    }
}

fn headers<'a>(image: &Image<'a>) -> Result<(&'a [SectionHeader64<LE>], &'a FileHeader64<LE>), Unreadable> {
    let (header, _) = pod::from_bytes::<FileHeader64<LE>>(image.bytes()).map_err(|()| Unreadable::NotElf)?;
    let (start, count) = (header.e_shoff.get(LE), u64::from(header.e_shnum.get(LE)));
    if start == 0 {
        return Ok((&[], header));
    }
    if usize::from(header.e_shentsize.get(LE)) != size_of::<SectionHeader64<LE>>() {
        return Err(Unreadable::Damaged("its section headers are of another size"));
    }
    let size = count * size_of::<SectionHeader64<LE>>() as u64;
    Ok((table(image, (start, size))?, header))
}

fn table<'a, T: Pod>(image: &Image<'a>, (start, size): (u64, u64)) -> Result<&'a [T], Unreadable> {
    let outside = Unreadable::Damaged("a table lies outside of the file");
    let range = usize::try_from(start).ok().zip(usize::try_from(size).ok());
    let bytes = range.and_then(|(start, size)| image.bytes().get(start..)?.get(..size));
    let bytes = bytes.ok_or_else(|| outside.clone())?;
    let (table, _) = pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).map_err(|()| outside)?;
    Ok(table)
}

//! The dynamic tables of two files, entry by entry, and the strings that they name.

use object::LittleEndian as LE;
use object::elf::{self, Dyn64};
use object::pod;

use super::super::{Image, Unreadable};
use super::tables::Tables;
use super::{Value, What, areas};

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

impl Tables<'_, '_> {
    pub(super) fn dynamic(&mut self) -> Result<(), Unreadable> {
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

    /// Behind the end mark nothing may be hidden. Some linkers leave something there, which a table that was made anew has not.
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
        if copy != 0 {
            self.field("dynamic table", "bytes behind its end", 0, original, copy);
        }
        Ok(())
    }

    /// The copy's strings begin with the original's, wherever they are.
    pub(super) fn strings(&mut self) {
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

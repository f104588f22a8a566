//! The tables of two files, entry by entry: an address must have moved as far as the file, all else must be the same.

use object::LittleEndian as LE;
use object::elf::{self, Sym64};

use super::super::symbols::Symbols;
use super::super::view::lossy;
use super::super::{Image, Unreadable};
use super::areas;
use super::{Difference, Report, Value, What};

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

    pub(super) fn text(
        &mut self,
        table: &'static str,
        field: &'static str,
        index: u64,
        original: &[u8],
        copy: &[u8],
    ) {
        self.report.fields += 1;
        if original != copy {
            self.tell(
                What::Field { table, field, index },
                Value::Text(lossy(original)),
                Value::Text(lossy(copy)),
            );
        }
    }

    pub(super) fn tell(&mut self, what: What, original: Value, copy: Value) {
        self.report.differs(Difference {
            object: self.object.to_owned(),
            offset: 0,
            what,
            original,
            copy,
        });
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

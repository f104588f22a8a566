//! The symbols of the copy: those that the loader searches, and those that only debuggers and profilers read.

use object::LittleEndian as LE;
use object::elf::{self, SectionHeader64, Sym64};

use super::super::Image;
use super::super::symbols::Symbols;
use super::draft::Draft;
use super::{Immovable, headers};

pub(super) fn moved(image: &Image<'_>, draft: &mut Draft) -> Result<(), Immovable> {
    let by = draft.by;
    let symbols = Symbols::read(image)?;
    if image.dynamic.symbols != 0 {
        let table = draft.table_at::<Sym64<LE>>(image.dynamic.symbols, symbols.count() as usize)?;
        table.iter_mut().for_each(|symbol| shift(symbol, by));
    }
    for section in headers::sections(image).unwrap_or_default() {
        if let Some((offset, count)) = static_symbols(section) {
            let table = draft.table::<Sym64<LE>>(offset, count)?;
            table.iter_mut().for_each(|symbol| shift(symbol, by));
        }
    }
    Ok(())
}

/// Offset and number of the symbols of a section that is not loaded.
fn static_symbols(section: &SectionHeader64<LE>) -> Option<(usize, usize)> {
    let is_it =
        section.sh_type.get(LE) == elf::SHT_SYMTAB && section.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 == 0;
    let offset = usize::try_from(section.sh_offset.get(LE)).ok()?;
    let size = usize::try_from(section.sh_size.get(LE)).ok()?;
    is_it.then_some((offset, size / size_of::<Sym64<LE>>()))
}

/// Thread-local symbols are places in a block that each thread has elsewhere, absolute ones are numbers.
fn shift(symbol: &mut Sym64<LE>, by: u64) {
    let section = symbol.st_shndx.get(LE);
    let value = symbol.st_value.get(LE);
    let stays = section == elf::SHN_ABS
        || section == elf::SHN_COMMON
        || (section == elf::SHN_UNDEF && value == 0)
        || symbol.st_type() == elf::STT_TLS;
    if !stays {
        symbol.st_value.set(LE, value.wrapping_add(by));
    }
}

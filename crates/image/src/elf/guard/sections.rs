//! What a debugger reads of a guard.
//!
//! A debugger learns of libraries by stopping at a function of the program's interpreter, which it finds by its name among the symbols
//! of the file. The interpreter is the guard, so the guard has one.

use object::LittleEndian as LE;
use object::elf::{self, SectionHeader64, Sym64};
use object::pod::bytes_of;

use super::layout::NOTICE_BYTES;

/// The name that debuggers look for, as in glibc's loader.
const NOTICE: &str = "_dl_debug_state";

/// Section headers with what they lead to, for the debugger: one symbol, the function that it is to watch. They begin at the end of
/// the file so far. The number of the headers comes with them.
pub(super) fn of(at: u64, notice: u64, offset: u64) -> (Vec<u8>, u16) {
    const NAMES: &[u8] = b"\0.text\0.symtab\0.strtab\0";
    const COUNT: u16 = 4;
    let mut texts = NAMES.to_vec();
    let name = texts.len() as u32;
    texts.extend_from_slice(NOTICE.as_bytes());
    texts.push(0);

    let mut symbols = [Sym64::<LE>::default(); 2];
    symbols[1].st_name.set(LE, name);
    symbols[1].set_st_info(elf::STB_GLOBAL, elf::STT_FUNC);
    symbols[1].st_shndx.set(LE, elf::SymbolSection(1));
    symbols[1].st_value.set(LE, notice);

    let symbols_at = at + u64::from(COUNT) * size_of::<SectionHeader64<LE>>() as u64;
    let texts_at = symbols_at + size_of_val(&symbols) as u64;
    let header = |name: u32, kind: elf::SectionType, offset: u64, size: u64| SectionHeader64 {
        sh_name: object::U32::new(LE, name),
        sh_type: object::U32::new(LE, kind),
        sh_flags: object::U64::default(),
        sh_addr: object::U64::default(),
        sh_offset: object::U64::new(LE, offset),
        sh_size: object::U64::new(LE, size),
        sh_link: object::U32::default(),
        sh_info: object::U32::default(),
        sh_addralign: object::U64::new(LE, 1),
        sh_entsize: object::U64::default(),
    };
    let none = header(0, elf::SHT_NULL, 0, 0);
    let mut code = header(1, elf::SHT_PROGBITS, offset, NOTICE_BYTES as u64);
    code.sh_addr.set(LE, notice);
    code.sh_flags.set(LE, elf::SHF_ALLOC | elf::SHF_EXECINSTR);
    let mut table = header(7, elf::SHT_SYMTAB, symbols_at, size_of_val(&symbols) as u64);
    table.sh_link.set(LE, u32::from(COUNT) - 1);
    table.sh_info.set(LE, 1);
    table.sh_entsize.set(LE, size_of::<Sym64<LE>>() as u64);
    let strings = header(15, elf::SHT_STRTAB, texts_at, texts.len() as u64);

    let mut bytes = Vec::new();
    for header in [none, code, table, strings] {
        bytes.extend_from_slice(bytes_of(&header));
    }
    for symbol in &symbols {
        bytes.extend_from_slice(bytes_of(symbol));
    }
    bytes.extend_from_slice(&texts);
    (bytes, COUNT)
}

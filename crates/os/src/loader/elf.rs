//! Reading an ELF program: what the kernel and the loader would read, and a little more for the heap that it may bring.
//!
//! Segments decide, because they are all that is needed to run; sections, which may be missing or damaged in a program that
//! runs well, only add the symbols.

use memchr::memmem::Finder;
use object::Endianness;
use object::elf;
use object::read::ReadRef;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};

use super::bounded::Bounded;
use super::imp;
use super::marks;
use super::program::{Format, Libc, Linkage, Program};

type Result<T> = std::result::Result<T, String>;

/// Reads a program. The error says what is wrong with the file.
pub(super) fn read(file: &Bounded) -> Result<Program> {
    match file.head(5).map_err(|error| error.to_string())?.get(4) {
        Some(&class) if class == elf::ELFCLASS32.0 => {
            Image::<elf::FileHeader32<Endianness>>::open(file)?.program()
        }
        Some(&class) if class == elf::ELFCLASS64.0 => {
            Image::<elf::FileHeader64<Endianness>>::open(file)?.program()
        }
        _ => Err("its header names neither 32 nor 64 bits".to_owned()),
    }
}

/// What a library must be to be preloaded into programs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) bits: u8,
    pub(super) machine: String,
}

/// The kind of a library that offers a heap (asked only where there are preloadable ones): one whose dynamic symbols define both `malloc` and `free`.
#[cfg(target_os = "linux")]
pub(super) fn heap_library(file: &Bounded) -> Result<Option<Kind>> {
    fn of<E: FileHeader<Endian = Endianness>>(file: &Bounded) -> Result<Option<Kind>> {
        let image = Image::<E>::open(file)?;
        let (mut malloc, mut free) = (false, false);
        image.for_each_symbol(elf::SHT_DYNSYM, |name, symbol| {
            malloc |= name == b"malloc" && symbol.defined;
            free |= name == b"free" && symbol.defined;
        });
        Ok((malloc && free).then(|| image.kind()))
    }
    match file.head(5).map_err(|error| error.to_string())?.get(4) {
        Some(&class) if class == elf::ELFCLASS32.0 => of::<elf::FileHeader32<Endianness>>(file),
        Some(&class) if class == elf::ELFCLASS64.0 => of::<elf::FileHeader64<Endianness>>(file),
        _ => Err("its header names neither 32 nor 64 bits".to_owned()),
    }
}

struct Image<'a, E: FileHeader<Endian = Endianness>> {
    file: &'a Bounded,
    header: &'a E,
    endian: Endianness,
    segments: &'a [E::ProgramHeader],
    sections: &'a [E::SectionHeader],
}

/// What matters about a symbol.
struct Symbol {
    defined: bool,
    weak: bool,
    function: bool,
    global: bool,
}

impl<'a, E: FileHeader<Endian = Endianness>> Image<'a, E> {
    fn open(file: &'a Bounded) -> Result<Self> {
        let header = E::parse(file).map_err(|error| error.to_string())?;
        let endian = header.endian().map_err(|error| error.to_string())?;
        let segments = header
            .program_headers(endian, file)
            .map_err(|error| error.to_string())?;
        let sections = header.section_headers(endian, file).unwrap_or_default();
        Ok(Self {
            file,
            header,
            endian,
            segments,
            sections,
        })
    }

    fn kind(&self) -> Kind {
        Kind {
            bits: if self.header.is_class_64() { 64 } else { 32 },
            machine: self.machine(),
        }
    }

    fn program(&self) -> Result<Program> {
        let endian = self.endian;
        let interpreter = self
            .segments
            .iter()
            .find_map(|segment| segment.interpreter(endian, self.file).transpose());
        let interpreter = interpreter
            .transpose()
            .map_err(|error| error.to_string())?
            .map(imp::path_from_bytes);
        let dynamic = self.dynamic();
        let kind = self.header.e_type(endian);
        let linkage = match interpreter {
            Some(interpreter) => Linkage::Dynamic { interpreter },
            None if kind == elf::ET_EXEC => Linkage::Static,
            None if kind == elf::ET_DYN && dynamic.pie => Linkage::StaticPie,
            None if kind == elf::ET_DYN => Linkage::Library,
            None => {
                return Err(
                    "it is neither a program nor a library (an object file or a core dump?)".to_owned(),
                );
            }
        };
        let go = self.section(".go.buildinfo").is_some() || self.section(".note.go.buildid").is_some();
        let own_heap = dynamic.needed.iter().find_map(|name| marks::by_library(name));
        let own_heap = own_heap.map(str::to_owned).or_else(|| self.own_heap(&linkage));
        let Kind { bits, machine } = self.kind();
        Ok(Program {
            format: Format::Elf,
            bits,
            machine,
            libc: self.libc(&linkage, &dynamic.needed, go),
            linkage,
            go,
            own_heap,
            needed: dynamic.needed,
            ..Program::other()
        })
    }

    fn machine(&self) -> String {
        let machine = self.header.e_machine(self.endian);
        let known = [
            (elf::EM_386, "i386"),
            (elf::EM_X86_64, "x86_64"),
            (elf::EM_ARM, "arm"),
            (elf::EM_AARCH64, "aarch64"),
            (elf::EM_RISCV, "riscv"),
            (elf::EM_PPC64, "powerpc64"),
            (elf::EM_S390, "s390x"),
            (elf::EM_MIPS, "mips"),
            (elf::EM_LOONGARCH, "loongarch"),
        ];
        let found = known.into_iter().find(|(number, _)| *number == machine);
        found.map_or_else(|| format!("machine {}", machine.0), |(_, name)| name.to_owned())
    }

    fn dynamic(&self) -> Dynamic {
        let endian = self.endian;
        let entries = self
            .segments
            .iter()
            .find_map(|segment| segment.dynamic(endian, self.file).ok().flatten());
        let mut dynamic = Dynamic::default();
        let (mut strings_at, mut strings_size, mut needed) = (0, 0, Vec::new());
        for entry in entries.unwrap_or_default() {
            let (tag, value): (_, u64) = (entry.d_tag(endian), entry.d_val(endian).into());
            match tag {
                elf::DT_NULL => break,
                elf::DT_NEEDED => needed.push(value),
                elf::DT_STRTAB => strings_at = value,
                elf::DT_STRSZ => strings_size = value,
                elf::DT_FLAGS_1 => dynamic.pie = value & elf::DF_1_PIE.0 != 0,
                _ => {}
            }
        }
        let strings = self.at_address(strings_at, strings_size).unwrap_or_default();
        dynamic.needed = needed
            .iter()
            .filter_map(|&offset| text_at(strings, offset))
            .map(lossy)
            .collect();
        dynamic
    }

    /// The bytes of the file that the loader would map at an address.
    fn at_address(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let endian = self.endian;
        self.segments
            .iter()
            .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
            .find_map(|segment| {
                let offset = address.checked_sub(segment.p_vaddr(endian).into())?;
                let left = segment.p_filesz(endian).into().checked_sub(offset)?;
                let position = segment.p_offset(endian).into().checked_add(offset)?;
                self.file.read_bytes_at(position, size.min(left)).ok()
            })
    }

    fn section(&self, name: &str) -> Option<&'a E::SectionHeader> {
        let names = self
            .sections
            .get(self.header.e_shstrndx(self.endian).0 as usize)?;
        let names = names.data(self.endian, self.file).ok()?;
        let named = |section: &&E::SectionHeader| {
            text_at(names, section.sh_name(self.endian).into()) == Some(name.as_bytes())
        };
        self.sections.iter().find(named)
    }

    /// Calls `visit` with the name of every symbol of the tables of one type. Tables that are damaged are passed over.
    fn for_each_symbol(&self, table: elf::SectionType, mut visit: impl FnMut(&'a [u8], Symbol)) {
        let endian = self.endian;
        for section in self
            .sections
            .iter()
            .filter(|section| section.sh_type(endian) == table)
        {
            let Ok(symbols) = section.data_as_array::<E::Sym, _>(endian, self.file) else {
                continue;
            };
            let names = self.sections.get(section.sh_link(endian) as usize);
            let names = names
                .and_then(|names| names.data(endian, self.file).ok())
                .unwrap_or_default();
            for symbol in symbols {
                let Some(name) = text_at(names, symbol.st_name(endian).into()) else {
                    continue;
                };
                let facts = Symbol {
                    defined: symbol.st_shndx(endian) != elf::SHN_UNDEF,
                    weak: symbol.st_bind() == elf::STB_WEAK,
                    function: symbol.st_type() == elf::STT_FUNC,
                    global: symbol.st_bind() != elf::STB_LOCAL,
                };
                visit(name, facts);
            }
        }
    }

    fn own_heap(&self, linkage: &Linkage) -> Option<String> {
        let mut heap = None;
        let mut own_malloc = false;
        let mut has_symbols = false;
        let mut look = |name: &[u8], symbol: Symbol| {
            // A weak wish (folly asks whether jemalloc happens to be there) is no heap.
            if heap.is_none() && (symbol.defined || !symbol.weak) {
                heap = marks::by_symbol(name);
            }
            own_malloc |= name == b"malloc" && symbol.defined && symbol.function && symbol.global;
        };
        self.for_each_symbol(elf::SHT_DYNSYM, &mut look);
        self.for_each_symbol(elf::SHT_SYMTAB, |name, symbol| {
            has_symbols = true;
            look(name, symbol);
        });
        if heap.is_none() && !has_symbols {
            heap = self.heap_by_text();
        }
        // In a static program `malloc` is the C library's; in a dynamic one it is the program's own, and goes before any
        // that is preloaded.
        let own = own_malloc && matches!(linkage, Linkage::Dynamic { .. });
        heap.map(str::to_owned)
            .or_else(|| own.then(|| "a malloc of its own".to_owned()))
    }

    fn heap_by_text(&self) -> Option<&'static str> {
        let texts = marks::Texts::new();
        let mut found = None;
        self.for_each_chunk(|chunk| {
            found = texts.find(chunk);
            found.is_some()
        });
        found
    }

    /// Passes what the loader would map to `visit` in overlapping pieces, until it returns true.
    fn for_each_chunk(&self, mut visit: impl FnMut(&[u8]) -> bool) {
        const CHUNK: u64 = 1 << 20;
        /// No text that is looked for is longer.
        const OVERLAP: u64 = 128;
        /// Constants lie near the beginning of a program; more than this is only embedded data.
        const MAX: u64 = 64 << 20;
        let endian = self.endian;
        let mut left = MAX;
        for segment in self
            .segments
            .iter()
            .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
        {
            let begin: u64 = segment.p_offset(endian).into();
            let size: u64 = segment.p_filesz(endian).into();
            let end = begin.saturating_add(size.min(left));
            left = left.saturating_sub(size);
            let mut position = begin;
            while position < end {
                let length = (CHUNK + OVERLAP).min(end - position);
                match self.file.read_bytes_at(position, length) {
                    Ok(chunk) if visit(chunk) => return,
                    Ok(_) => position += CHUNK,
                    Err(()) => break,
                }
            }
        }
    }

    fn libc(&self, linkage: &Linkage, needed: &[String], go: bool) -> Libc {
        match linkage {
            Linkage::Dynamic { interpreter } => {
                let name = interpreter
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                if name.starts_with("ld-musl") || needed.iter().any(|name| name.starts_with("libc.musl")) {
                    Libc::Musl
                } else if needed.iter().any(|name| name == "libc.so.6") || name.starts_with("ld-linux") {
                    Libc::Glibc
                } else {
                    Libc::Unknown
                }
            }
            Linkage::Library => match needed.iter().any(|name| name == "libc.so.6") {
                true => Libc::Glibc,
                false => Libc::Unknown,
            },
            _ => self.static_libc(go),
        }
    }

    /// The C library inside a static program: by a text that each leaves.
    fn static_libc(&self, go: bool) -> Libc {
        // glibc's start-up code parses the variable; musl's heap carries a table of its block sizes (in 16-byte units).
        let glibc = Finder::new("GLIBC_TUNABLES");
        let sizes = [
            1_u16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63,
        ]
        .map(u16::to_le_bytes);
        let musl = Finder::new(sizes.as_flattened());
        let mut libc = if go { Libc::None } else { Libc::Unknown };
        self.for_each_chunk(|chunk| {
            if glibc.find(chunk).is_some() {
                libc = Libc::Glibc;
            } else if musl.find(chunk).is_some() {
                libc = Libc::Musl;
            }
            matches!(libc, Libc::Glibc | Libc::Musl)
        });
        libc
    }
}

#[derive(Default)]
struct Dynamic {
    needed: Vec<String>,
    pie: bool,
}

/// The text that begins at an offset of a string table.
fn text_at(strings: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = strings.get(usize::try_from(offset).ok()?..)?;
    Some(&rest[..memchr::memchr(0, rest)?])
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

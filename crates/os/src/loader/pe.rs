//! Reading a PE program (Windows): machine, imported libraries, and whether it brings a heap.

use std::path::PathBuf;

use object::LittleEndian as LE;
use object::pe;
use object::read::ReadRef;
use object::read::pe::{ImageNtHeaders, ImageThunkData, Import, PeFile};

use super::bounded::Bounded;
use super::marks;
use super::program::{Format, Libc, Linkage, Program};

/// No program imports more; a damaged table may seem to.
const MAX_IMPORTS: usize = 65_536;

/// Reads a program. The error says what is wrong with the file.
pub(super) fn read(file: &Bounded) -> Result<Program, String> {
    let dos = pe::ImageDosHeader::parse(file).map_err(|error| error.to_string())?;
    let mut offset = dos.nt_headers_offset().into();
    // The magic number stands at the same place in both headers: behind the signature and the file header.
    let magic_at = 4 + size_of::<pe::ImageFileHeader>() as u64;
    offset += magic_at;
    let magic = file
        .read_at::<object::U16<LE>>(offset)
        .map_err(|()| "its header is cut off".to_owned())?;
    match magic.get(LE) {
        pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => read_as::<pe::ImageNtHeaders32>(file),
        pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC => read_as::<pe::ImageNtHeaders64>(file),
        _ => Err("its header is neither that of a 32-bit nor of a 64-bit program".to_owned()),
    }
}

fn read_as<Pe: ImageNtHeaders>(file: &Bounded) -> Result<Program, String> {
    let image = PeFile::<Pe, _>::parse(file).map_err(|error| error.to_string())?;
    let header = image.nt_headers().file_header();
    let (needed, by_symbol) = imports::<Pe>(&image)?;
    let own_heap = needed
        .iter()
        .find_map(|name| marks::by_library(&name.to_ascii_lowercase()))
        .or(by_symbol);
    let own_heap = own_heap.or_else(|| heap_by_text(&image, file));
    let library = header.characteristics.get(LE).0 & pe::IMAGE_FILE_DLL.0 != 0;
    Ok(Program {
        format: Format::Pe,
        bits: if image.nt_headers().is_type_64() { 64 } else { 32 },
        machine: machine(header.machine.get(LE)),
        linkage: if library {
            Linkage::Library
        } else {
            Linkage::Dynamic {
                interpreter: PathBuf::from("ntdll.dll"),
            }
        },
        libc: Libc::Unknown,
        own_heap: own_heap.map(str::to_owned),
        needed,
        ..Program::other()
    })
}

fn machine(machine: pe::Machine) -> String {
    let known = [
        (pe::IMAGE_FILE_MACHINE_AMD64, "x86_64"),
        (pe::IMAGE_FILE_MACHINE_I386, "i386"),
        (pe::IMAGE_FILE_MACHINE_ARM64, "aarch64"),
        (pe::IMAGE_FILE_MACHINE_ARMNT, "arm"),
    ];
    let found = known.into_iter().find(|(number, _)| *number == machine);
    found.map_or_else(
        || format!("machine {:#x}", machine.0),
        |(_, name)| name.to_owned(),
    )
}

/// The imported libraries, and the heap that an imported function belongs to.
fn imports<'a, Pe: ImageNtHeaders>(
    image: &PeFile<'a, Pe, &'a Bounded>,
) -> Result<(Vec<String>, Option<&'static str>), String> {
    let damaged = |error: object::Error| format!("its table of imports is damaged ({error})");
    let mut needed = Vec::new();
    let mut heap = None;
    let Some(table) = image.import_table().map_err(damaged)? else {
        return Ok((needed, heap));
    };
    let mut descriptors = table.descriptors().map_err(damaged)?;
    let mut left = MAX_IMPORTS;
    while let Some(descriptor) = descriptors.next().map_err(damaged)? {
        let name = table.name(descriptor.name.get(LE)).map_err(damaged)?;
        needed.push(String::from_utf8_lossy(name).into_owned());
        let first = match descriptor.original_first_thunk.get(LE) {
            0 => descriptor.first_thunk.get(LE),
            thunks => thunks,
        };
        let mut thunks = table.thunks(first).map_err(damaged)?;
        while let Some(thunk) = thunks.next::<Pe>().map_err(damaged)? {
            left = left
                .checked_sub(1)
                .ok_or("it imports more than any program does")?;
            if thunk.is_ordinal() {
                continue;
            }
            if let Import::Name(_, symbol) = table.import::<Pe>(thunk).map_err(damaged)? {
                heap = heap.or_else(|| marks::by_symbol(symbol));
            }
        }
    }
    Ok((needed, heap))
}

fn heap_by_text<'a, Pe: ImageNtHeaders>(
    image: &PeFile<'a, Pe, &'a Bounded>,
    file: &Bounded,
) -> Option<&'static str> {
    /// As for ELF: constants beyond this are embedded data.
    const MAX: u64 = 64 << 20;
    let texts = marks::Texts::new();
    image.section_table().iter().find_map(|section| {
        let (offset, size) = section.pe_file_range();
        let bytes = file.read_bytes_at(offset.into(), u64::from(size).min(MAX)).ok()?;
        texts.find(bytes)
    })
}

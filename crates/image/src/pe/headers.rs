//! The headers: what a file is, where it wants to lie, where its parts are.

use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, optional_header_magic};

use super::{PAGE, Unreadable};

/// Where an optional header keeps what writers change, from its start. Both kinds agree in these.
const CHECKSUM: usize = 64;
const SIZE_OF_HEADERS: usize = 60;
const DLL_CHARACTERISTICS: usize = 70;

/// A range that a data directory names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Where it begins: an RVA, but for the signature a place in the file. 0 when there is none.
    pub rva: u32,
    /// Bytes, as stated; the loader ignores it for imports.
    pub size: u32,
}

/// A section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name, without the filling zeros.
    pub name: Vec<u8>,
    /// Where it lies in the image.
    pub rva: u32,
    /// Bytes that it takes in the image, not rounded.
    pub span: u32,
    /// Where its bytes lie in the file, as the loader rounds it.
    pub offset: u32,
    /// Bytes that the file has for it in the image; the rest is zero.
    pub stored: u32,
    /// Its flags (`IMAGE_SCN_*`).
    pub flags: u32,
}

/// Places in the file, for writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The file header.
    pub file_header: usize,
    /// The optional header.
    pub optional: usize,
    /// The first data directory.
    pub directories: usize,
    /// The first byte behind the section table.
    pub sections_end: usize,
}

impl Places {
    /// The stamp.
    #[must_use]
    pub const fn stamp(&self) -> usize {
        self.file_header + 4
    }
    pub(super) const fn base(&self, wide: bool) -> usize {
        self.optional + if wide { 24 } else { 28 }
    }
    pub(super) const fn size_of_headers(&self) -> usize {
        self.optional + SIZE_OF_HEADERS
    }
    /// The checksum.
    #[must_use]
    pub const fn checksum(&self) -> usize {
        self.optional + CHECKSUM
    }
    pub(super) const fn dll_characteristics(&self) -> usize {
        self.optional + DLL_CHARACTERISTICS
    }
    pub(super) const fn directory(&self, index: usize) -> usize {
        self.directories + index * 8
    }
}

/// The headers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// True of PE32+: addresses have eight bytes.
    pub wide: bool,
    /// The processor (`IMAGE_FILE_MACHINE_*`).
    pub machine: u16,
    /// Flags of the file (`IMAGE_FILE_*`).
    pub characteristics: u16,
    /// When it was linked, in seconds since 1970, or a hash in its place.
    pub stamp: u32,
    /// Major and minor version of the linker.
    pub linker: (u8, u8),
    /// The RVA of the entry point; 0 for none.
    pub entry: u32,
    /// The preferred base.
    pub base: u64,
    /// Alignment of sections in memory, bytes.
    pub section_alignment: u32,
    /// Alignment of sections in the file, bytes.
    pub file_alignment: u32,
    /// Bytes of address space that it takes.
    pub size_of_image: u32,
    /// Bytes of headers, the section table included.
    pub size_of_headers: u32,
    /// The checksum that it states; 0 for none.
    pub checksum: u32,
    /// The subsystem (`IMAGE_SUBSYSTEM_*`).
    pub subsystem: u16,
    /// Flags for the loader (`IMAGE_DLLCHARACTERISTICS_*`).
    pub dll_characteristics: u16,
    /// Data directories.
    pub directories: Vec<Directory>,
    /// Sections, in order of their addresses; they do not overlap.
    pub sections: Vec<Section>,
    /// Places in the file.
    pub places: Places,
}

impl Headers {
    /// Reads the headers of a file.
    ///
    /// # Errors
    /// When it is no PE file, or its section table makes no sense.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        match optional_header_magic(bytes).map_err(|_| Unreadable::NotPe)? {
            pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC => of::<pe::ImageNtHeaders64>(bytes),
            pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => of::<pe::ImageNtHeaders32>(bytes),
            _ => Err(Unreadable::NotPe),
        }
    }

    /// What files must have in common to be loaded together: address width and processor.
    #[must_use]
    pub const fn kind(&self) -> (bool, u16) {
        (self.wide, self.machine)
    }

    /// A data directory (`IMAGE_DIRECTORY_ENTRY_*`), if it is there.
    #[must_use]
    pub fn directory(&self, index: usize) -> Option<Directory> {
        self.directories
            .get(index)
            .copied()
            .filter(|directory| directory.rva != 0)
    }

    /// True of a library.
    #[must_use]
    pub const fn is_library(&self) -> bool {
        self.characteristics & pe::IMAGE_FILE_DLL.0 != 0
    }

    /// True when its base relocations were removed: it can lie only at its preferred base.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.characteristics & pe::IMAGE_FILE_RELOCS_STRIPPED.0 != 0
    }

    /// True when Windows may load it anywhere, by its own choice.
    #[must_use]
    pub const fn has_dynamic_base(&self) -> bool {
        self.dll_characteristics & pe::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE.0 != 0
    }

    /// True when Windows may load it above 4 GiB with all random bits.
    #[must_use]
    pub const fn has_high_entropy(&self) -> bool {
        self.dll_characteristics & pe::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA.0 != 0
    }

    /// True when it asks never to be bound.
    #[must_use]
    pub const fn refuses_binding(&self) -> bool {
        self.dll_characteristics & pe::IMAGE_DLLCHARACTERISTICS_NO_BIND.0 != 0
    }

    /// The signature's place and size in the file.
    #[must_use]
    pub fn signature(&self) -> Option<Directory> {
        self.directory(pe::IMAGE_DIRECTORY_ENTRY_SECURITY)
            .filter(|directory| directory.size != 0)
    }

    /// The range of addresses that it prefers.
    #[must_use]
    pub const fn preferred(&self) -> std::ops::Range<u64> {
        self.base..self.base.saturating_add(self.size_of_image as u64)
    }

    /// The section in which an RVA lies.
    #[must_use]
    pub fn section_at(&self, rva: u32) -> Option<&Section> {
        let after = self.sections.partition_point(|section| section.rva <= rva);
        let section = self.sections.get(after.checked_sub(1)?)?;
        (rva - section.rva < section.span.max(section.stored)).then_some(section)
    }
}

impl Headers {
    /// Where in the file `length` bytes at an RVA are stored; `None` when some of them are not.
    #[must_use]
    pub fn place(&self, rva: u32, length: u32) -> Option<usize> {
        let end = rva.checked_add(length)?;
        match self.section_at(rva) {
            Some(section) => {
                let stored = end - section.rva <= section.stored;
                stored.then_some(section.offset as usize + (rva - section.rva) as usize)
            }
            None => (end <= self.size_of_headers).then_some(rva as usize),
        }
    }
}

fn of<Pe: ImageNtHeaders>(bytes: &[u8]) -> Result<Headers, Unreadable> {
    let dos = pe::ImageDosHeader::parse(bytes).map_err(|_| Unreadable::NotPe)?;
    let start = u64::from(dos.nt_headers_offset());
    let mut offset = start;
    let (nt, directories) = Pe::parse(bytes, &mut offset)
        .map_err(|_| Unreadable::Damaged("its optional header or its data directories are cut off"))?;
    let table = nt
        .sections(bytes, offset)
        .map_err(|_| Unreadable::Damaged("its section table is cut off"))?;
    let (file, optional) = (nt.file_header(), nt.optional_header());
    let file_header = start as usize + 4;
    let optional_start = file_header + pe::IMAGE_SIZEOF_FILE_HEADER;
    let places = Places {
        file_header,
        optional: optional_start,
        directories: optional_start + size_of::<Pe::ImageOptionalHeader>(),
        sections_end: offset as usize
            + usize::from(file.number_of_sections.get(LE)) * pe::IMAGE_SIZEOF_SECTION_HEADER,
    };
    let mut headers = Headers {
        wide: nt.is_type_64(),
        machine: file.machine.get(LE).0,
        characteristics: file.characteristics.get(LE).0,
        stamp: file.time_date_stamp.get(LE),
        linker: (optional.major_linker_version(), optional.minor_linker_version()),
        entry: optional.address_of_entry_point(),
        base: optional.image_base(),
        section_alignment: optional.section_alignment(),
        file_alignment: optional.file_alignment(),
        size_of_image: optional.size_of_image(),
        size_of_headers: optional.size_of_headers(),
        checksum: optional.check_sum(),
        subsystem: optional.subsystem().0,
        dll_characteristics: optional.dll_characteristics().0,
        directories: directories
            .iter()
            .map(|directory| Directory {
                rva: directory.virtual_address.get(LE),
                size: directory.size.get(LE),
            })
            .collect(),
        sections: Vec::new(),
        places,
    };
    headers.sections = table
        .iter()
        .map(|header| section(header, headers.section_alignment))
        .collect();
    check(&headers)?;
    Ok(headers)
}

fn section(header: &pe::ImageSectionHeader, alignment: u32) -> Section {
    let raw = header.size_of_raw_data.get(LE);
    let span = match header.virtual_size.get(LE) {
        0 => raw,
        size => size,
    };
    let pointer = header.pointer_to_raw_data.get(LE);
    // The loader counts places in sectors of 512 bytes, unless the file is mapped as it lies.
    let offset = if alignment >= PAGE {
        pointer & !0x1ff
    } else {
        pointer
    };
    let pages = span.checked_next_multiple_of(PAGE).unwrap_or(u32::MAX);
    Section {
        name: header.raw_name().to_vec(),
        rva: header.virtual_address.get(LE),
        span,
        offset,
        stored: if pointer == 0 { 0 } else { raw.min(pages) },
        flags: header.characteristics.get(LE).0,
    }
}

/// What the loader checks too: sections follow each other and lie within the image.
fn check(headers: &Headers) -> Result<(), Unreadable> {
    let mut free = headers.size_of_headers;
    for section in &headers.sections {
        let end = section.rva.checked_add(section.span.max(section.stored));
        if section.rva < free {
            return Err(Unreadable::Damaged("its sections overlap or are out of order"));
        }
        free = end.ok_or(Unreadable::Damaged("a section reaches beyond 4 GiB"))?;
    }
    let pages = |bytes: u32| bytes.div_ceil(PAGE);
    if pages(free) > pages(headers.size_of_image) {
        return Err(Unreadable::Damaged("a section lies beyond the end of the image"));
    }
    Ok(())
}

//! The memory of two processes that stand still after relocation: one loaded the originals, the other one the copies.

use object::LittleEndian as LE;
use object::elf;

use super::super::relocations::Kind;
use super::super::{Image, Unreadable};
use super::areas::{self, Area, AreaKind, Slot, WORD};
use super::dynamic::{self, ADDRESS_TAGS, FREE_TAGS};
use super::files::merged;
use super::places::{Places, Twin};
use super::tables::Tables;
use super::{Difference, Report, Value, What, kind_name};

/// So many bytes of each process are looked at at a time.
const WINDOW: u64 = 4 << 20;

/// The memory of a process.
pub trait Memory {
    /// Fills `into` with what is at an address; false when a part of it cannot be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// An object that both processes have loaded, the one as the original and the other one as its copy. An object that was not moved is its
/// own copy.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// What it is called in reports.
    pub name: &'a str,
    /// The original's file and the copy's.
    pub files: [&'a [u8]; 2],
    /// What each loader added to the addresses in the file (`l_addr`).
    pub biases: [u64; 2],
    /// Whether it is the dynamic loader, whose own data differs from process to process: only the words that relocations write are compared.
    pub is_loader: bool,
}

/// A part of both processes' memory that is no object's, such as the kernel's library (`[vdso]`).
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// What it is called in reports.
    pub name: &'a str,
    /// Its first address in each process.
    pub starts: [u64; 2],
    /// Its size in bytes.
    pub size: u64,
}

/// Two processes.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The memory of the one with the originals and of the one with the copies.
    pub memories: [&'a dyn Memory; 2],
    /// All objects that are loaded.
    pub objects: &'a [Object<'a>],
    /// What else addresses may lead into.
    pub regions: &'a [Region<'a>],
}

/// Compares what is in memory, object by object: all tables of the files as [`compare_files`](super::compare_files) does; every word that a
/// relocation of the original writes to, as a place in an object; and every other byte of every segment.
///
/// Thread-local variables: the numbers of modules and distances from the thread pointer are compared as numbers; a descriptor's argument that
/// is memory of the loader's is followed.
///
/// # Errors
/// When one of the files cannot be read.
pub fn compare_loaded(sides: &Sides<'_>) -> Result<Report, Unreadable> {
    let mut pairs = Vec::new();
    let mut twins = Vec::new();
    for object in sides.objects {
        let images = [Image::parse(object.files[0])?, Image::parse(object.files[1])?];
        let starts = [0, 1].map(|side: usize| areas::origin(&images[side]).wrapping_add(object.biases[side]));
        twins.push(Twin {
            name: object.name.to_owned(),
            starts,
            size: areas::end(&images[0]) - areas::origin(&images[0]),
        });
        pairs.push((object, images, starts));
    }
    twins.extend(sides.regions.iter().map(|region| Twin {
        name: region.name.to_owned(),
        starts: region.starts,
        size: region.size,
    }));
    let places = Places::new(twins);
    let mut report = Report::default();
    for (object, images, starts) in &pairs {
        let [original, copy] = images;
        let shift = areas::origin(copy).wrapping_sub(areas::origin(original));
        Tables {
            object: object.name,
            original,
            copy,
            shift,
            report: &mut report,
        }
        .compare()?;
        let mut pair = Pair {
            object,
            images,
            starts: *starts,
            memories: sides.memories,
            places: &places,
            report: &mut report,
        };
        pair.compare()?;
    }
    Ok(report)
}

/// One object in both processes.
struct Pair<'r, 'a> {
    object: &'r Object<'a>,
    images: &'r [Image<'a>; 2],
    starts: [u64; 2],
    memories: [&'a dyn Memory; 2],
    places: &'r Places,
    report: &'r mut Report,
}

impl Pair<'_, '_> {
    fn compare(&mut self) -> Result<(), Unreadable> {
        let slots = areas::slots(&self.images[0])?;
        for slot in &slots {
            self.slot(slot);
        }
        let own = [areas::tables(&self.images[0])?, areas::tables(&self.images[1])?];
        for (side, areas) in own.iter().enumerate() {
            self.own_tables(side, areas);
        }
        self.dynamic();
        let mut done: Vec<_> = slots
            .iter()
            .map(|slot| self.offsets(0, slot.address, slot.size))
            .collect();
        for (side, areas) in own.iter().enumerate() {
            done.extend(
                areas
                    .iter()
                    .map(|area| self.offsets(side, area.start, area.end - area.start)),
            );
        }
        for area in own[0].iter().filter(|area| area.what == AreaKind::GotFirst) {
            self.got_first(area.start);
        }
        self.segments(&merged(done));
        Ok(())
    }

    /// A range of addresses in a file as offsets from its first segment.
    fn offsets(&self, side: usize, start: u64, size: u64) -> (u64, u64) {
        let offset = start.wrapping_sub(areas::origin(&self.images[side]));
        (offset, offset.saturating_add(size))
    }

    fn read(&self, side: usize, offset: u64, size: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        let address = self.starts[side].wrapping_add(offset);
        self.memories[side].read(address, &mut bytes).then_some(bytes)
    }

    fn word(&self, side: usize, offset: u64) -> Option<u64> {
        word_at(self.memories[side], self.starts[side].wrapping_add(offset))
    }

    fn tell(&mut self, offset: u64, what: What, [original, copy]: [Option<u64>; 2]) {
        let value =
            |side, word: Option<u64>| word.map_or(Value::Absent, |word| self.places.value(side, word));
        let (original, copy) = (value(0, original), value(1, copy));
        self.report.differs(Difference {
            object: self.object.name.to_owned(),
            offset,
            what,
            original,
            copy,
        });
    }

    /// The words that a relocation writes to.
    fn slot(&mut self, slot: &Slot) {
        let (start, end) = self.offsets(0, slot.address, slot.size);
        self.report.word(kind_name(slot.kind));
        if slot.kind == Kind::Copy {
            // Not beyond the object, whatever the symbol says.
            let size = areas::end(&self.images[0]) - areas::origin(&self.images[0]);
            self.copied(start, end.min(size));
            return;
        }
        let words = [0, 1].map(|side| self.word(side, start));
        if !self.same_word(slot, words) {
            self.tell(start, What::Word(slot.kind), words);
        }
        if slot.kind == Kind::TlsDescriptor {
            let arguments = [0, 1].map(|side| self.word(side, start + WORD));
            if !self.same_argument(arguments) {
                self.tell(start + WORD, What::Word(slot.kind), arguments);
            }
        }
    }

    fn same_word(&self, slot: &Slot, words: [Option<u64>; 2]) -> bool {
        let [Some(original), Some(copy)] = words else {
            return false;
        };
        let addend = slot.addend.cast_unsigned();
        match slot.kind {
            // An address of its own object, even where that leads out of it and into another one.
            Kind::Relative => original.wrapping_sub(self.starts[0]) == copy.wrapping_sub(self.starts[1]),
            // The symbol is in an object, and the word may be some way off it.
            Kind::Absolute => {
                self.places.same(original, copy)
                    || self
                        .places
                        .same(original.wrapping_sub(addend), copy.wrapping_sub(addend))
            }
            _ => self.places.same(original, copy),
        }
    }

    /// The argument of a descriptor is a distance, or the address of three words of the loader's: module, offset, generation.
    fn same_argument(&self, arguments: [Option<u64>; 2]) -> bool {
        let [Some(original), Some(copy)] = arguments else {
            return false;
        };
        if self.places.same(original, copy) {
            return true;
        }
        let behind = |side: usize, address: u64| -> Option<Vec<u64>> {
            (0..3)
                .map(|index| word_at(self.memories[side], address.checked_add(index * WORD)?))
                .collect()
        };
        let followed = behind(0, original);
        followed.is_some() && followed == behind(1, copy)
    }

    /// A library's variable that lives in the program: words that may be addresses, and the rest.
    fn copied(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at + WORD <= end {
            let words = [0, 1].map(|side| self.word(side, at));
            let same = matches!(words, [Some(original), Some(copy)] if self.places.same(original, copy));
            if !same {
                self.tell(at, What::Word(Kind::Copy), words);
            }
            at += WORD;
        }
        if at < end && self.read(0, at, end - at) != self.read(1, at, end - at) {
            self.tell(at, What::Word(Kind::Copy), [None, None]);
        }
    }

    /// Tables whose entries were compared in the files are in memory as in the file of the same side.
    fn own_tables(&mut self, side: usize, areas: &[Area]) {
        for area in areas {
            let AreaKind::Table(name) = area.what else {
                continue;
            };
            let (start, end) = self.offsets(side, area.start, area.end - area.start);
            let size = usize::try_from(end - start).unwrap_or(usize::MAX);
            let file = self.images[side].at(area.start).get(..size);
            self.report.fields += 1;
            if file.is_none() || self.read(side, start, end - start).as_deref() != file {
                self.tell(start, What::Table(name), [None, None]);
            }
        }
    }

    /// The dynamic table in memory. The loader writes to it: it makes addresses of some entries, and leaves its notes (`DT_DEBUG`).
    fn dynamic(&mut self) {
        let tables = [0, 1].map(|side: usize| {
            let segment = self.images[side].segment(elf::PT_DYNAMIC)?;
            let (start, end) = self.offsets(side, segment.p_vaddr.get(LE), segment.p_filesz.get(LE));
            let entries = dynamic::parse(&self.read(side, start, end - start)?);
            let kept = entries.into_iter().filter(|(tag, _)| !FREE_TAGS.contains(tag));
            Some(kept.collect::<Vec<_>>())
        });
        let [first, second] = tables.map(Option::unwrap_or_default);
        let number = [first.len(), second.len()].map(|length| Some(length as u64));
        self.report.fields += 1;
        if number[0] != number[1] {
            self.tell(0, What::Table("the dynamic table"), number);
        }
        for (index, (original, copy)) in (0..).zip(first.iter().zip(&second)) {
            self.report.fields += 1;
            let same = original.0 == copy.0
                && match original.0 {
                    // Compared in the files, as is what became of a flag when a program got fixed addresses.
                    elf::DT_STRTAB | elf::DT_STRSZ | elf::DT_SONAME => true,
                    elf::DT_FLAGS_1 => (original.1 ^ copy.1) & !elf::DF_1_PIE.0 == 0,
                    tag if ADDRESS_TAGS.contains(&tag) => {
                        self.own_offset(0, original.1) == self.own_offset(1, copy.1)
                    }
                    _ => self.places.same(original.1, copy.1),
                };
            if !same {
                let what = What::Field {
                    table: "dynamic table in memory",
                    field: "d_val",
                    index,
                };
                self.tell(0, what, [Some(original.1), Some(copy.1)]);
            }
        }
    }

    /// An address in the object, whether the loader has added the bias or not.
    fn own_offset(&self, side: usize, address: u64) -> u64 {
        let size = areas::end(&self.images[0]) - areas::origin(&self.images[0]);
        let loaded = address.wrapping_sub(self.starts[side]);
        if loaded <= size {
            return loaded;
        }
        address.wrapping_sub(areas::origin(&self.images[side]))
    }

    /// The first word of the global offset table is the address of the dynamic table as the linker knew it.
    fn got_first(&mut self, address: u64) {
        let (offset, _) = self.offsets(0, address, WORD);
        let words = [0, 1].map(|side| self.word(side, offset));
        self.report.fields += 1;
        let same = matches!(words, [Some(first), Some(second)] if self.own_offset(0, first) == self.own_offset(1, second));
        if !same {
            self.tell(offset, What::Bytes, words);
        }
    }

    /// All bytes of all segments but those in `without`.
    fn segments(&mut self, without: &[(u64, u64)]) {
        for load in self.images[0].loads() {
            let (start, end) = self.offsets(0, load.p_vaddr.get(LE), load.p_memsz.get(LE));
            let written = load.p_flags.get(LE).0 & elf::PF_W.0 != 0;
            if self.object.is_loader && written {
                self.report.skip("bytes of the loader's own data", end - start);
                continue;
            }
            let mut from = start;
            while from < end {
                // Ends at a multiple of a word, so that no word is split.
                let to = (from / WINDOW + 1).saturating_mul(WINDOW).min(end);
                if !self.window(from, to, without) {
                    break;
                }
                from = to;
            }
        }
    }

    /// False when it cannot be read; then the rest of the segment is not looked at.
    fn window(&mut self, from: u64, to: u64, without: &[(u64, u64)]) -> bool {
        let bytes = [0, 1].map(|side| self.read(side, from, to - from));
        let [Some(mut original), Some(mut copy)] = bytes else {
            self.tell(from, What::Bytes, [None, None]);
            return false;
        };
        let mut compared = to - from;
        let first = without.partition_point(|range| range.1 <= from);
        for &(start, end) in without[first..].iter().take_while(|range| range.0 < to) {
            let (start, end) = (start.max(from), end.min(to));
            let range = (start - from) as usize..(end - from) as usize;
            original[range.clone()].fill(0);
            copy[range].fill(0);
            compared -= end - start;
        }
        self.report.bytes += compared;
        if original == copy {
            return true;
        }
        let mut at = from;
        while at < to {
            let next = ((at / WORD + 1) * WORD).min(to);
            let range = (at - from) as usize..(next - from) as usize;
            if original[range.clone()] != copy[range] {
                let whole = at / WORD * WORD;
                let words = [0, 1].map(|side| self.word(side, whole));
                self.tell(whole, What::Bytes, words);
            }
            at = next;
        }
        true
    }
}

fn word_at(memory: &dyn Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory
        .read(address, &mut bytes)
        .then(|| u64::from_le_bytes(bytes))
}

//! A file and its moved copy, without starting anything.

use object::LittleEndian as LE;
use object::elf;

use super::super::relocations::{Kind, Relocation};
use super::super::{Image, Unreadable};
use super::areas::{self, AreaKind, WORD};
use super::tables::Tables;
use super::{Difference, Report, Value, What};

/// The word of a relocation that asks for a symbol and is gone in the copy. Whether the value is right depends on the other objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Bytes behind the beginning of the first segment.
    pub offset: u64,
    /// What the relocation would have written.
    pub kind: Kind,
    /// The symbol that it asks for, as an index into the original's dynamic symbols.
    pub symbol: u32,
    /// What it adds.
    pub addend: i64,
    /// What the original's file has there; `None` where nothing of the file is mapped.
    pub original: Option<u64>,
    /// What the copy's file has there.
    pub value: Option<u64>,
}

/// A part of the copy's file that was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Its first byte in the file.
    pub start: u64,
    /// The byte behind its last one.
    pub end: u64,
    /// Why.
    pub reason: &'static str,
}

/// What the comparison of two files found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// What was compared, and what differs.
    pub report: Report,
    /// How far the copy was moved, in bytes (modulo 2⁶⁴).
    pub shift: u64,
    /// Relocations of symbols that are gone, for the caller to judge.
    pub bound: Vec<Bound>,
    /// Relocations that only the copy has, for the caller to judge.
    pub added: Vec<Relocation>,
    /// How many relative relocations were applied in the copy.
    pub applied: u64,
    /// How many relocations both have.
    pub kept: u64,
    /// What of the copy's file was not compared.
    pub ignored: Vec<Ignored>,
}

/// Compares a file with its moved copy. The copy was moved as a whole, so all its addresses are the original's plus one distance; its
/// contents are where they are in the original's file, and what it has more stands behind them.
///
/// A relative relocation may be gone if it was applied; one that asks for a symbol may be gone and is then listed as [`Bound`].
///
/// # Errors
/// When one of them cannot be read.
pub fn compare_files(original: &[u8], moved: &[u8]) -> Result<FileReport, Unreadable> {
    let (first, second) = (Image::parse(original)?, Image::parse(moved)?);
    let shift = areas::origin(&second).wrapping_sub(areas::origin(&first));
    let mut report = Report::default();
    let mut tables = Tables {
        object: "",
        original: &first,
        copy: &second,
        shift,
        report: &mut report,
    };
    tables.compare()?;
    let places = tables.sections()?;
    let slots = areas::slots(&first)?;
    let outcome = tables.relocations(&slots)?;
    let known = areas::tables(&first)?;
    for area in known.iter().filter(|area| area.what == AreaKind::GotFirst) {
        let word = |image, address| areas::word(image, address).unwrap_or(0);
        let (original, copy) = (word(&first, area.start), word(&second, tables.moved(area.start)));
        tables.address("global offset table", "dynamic table", 0, original, copy);
    }
    // In the file: entries and words were compared there.
    let mut done = places;
    done.extend(header_ranges(&first));
    let addresses = known.iter().map(|area| (area.start, area.end));
    let written = slots
        .iter()
        .filter(|slot| slot.kind != Kind::Copy)
        .map(|slot| (slot.address, slot.address.saturating_add(slot.size.min(WORD))));
    done.extend(
        addresses
            .chain(written)
            .filter_map(|(start, end)| in_file(&first, start, end)),
    );
    let ignored = ignored(&first, &second);
    let ranges = merged(
        done.into_iter()
            .chain(ignored.iter().map(|ignored| (ignored.start, ignored.end))),
    );
    bytes(&first, &second, &ranges, &mut report);
    for ignored in &ignored {
        report.skip(ignored.reason, ignored.end - ignored.start);
    }
    Ok(FileReport {
        report,
        shift,
        bound: outcome.bound,
        added: outcome.added,
        applied: outcome.applied,
        kept: outcome.kept,
        ignored,
    })
}

/// The ELF header and the original's program headers.
fn header_ranges(image: &Image<'_>) -> [(u64, u64); 2] {
    let (start, size) = areas::program_headers(image);
    let header = size_of::<elf::FileHeader64<LE>>() as u64;
    [(0, header), (start, start + size)]
}

/// What stood in the original's file and was given up, and what only the copy has.
fn ignored(original: &Image<'_>, copy: &Image<'_>) -> Vec<Ignored> {
    let mut ignored = Vec::new();
    let mut add = |start: u64, end: u64, reason| {
        if start < end {
            ignored.push(Ignored { start, end, reason });
        }
    };
    let tables = |image: &Image<'_>| {
        let dynamic = &image.dynamic;
        [dynamic.relocations, dynamic.functions, dynamic.packed]
            .map(|(start, size)| in_file(image, start, start.saturating_add(size)))
    };
    let used = merged(tables(copy).into_iter().flatten());
    for (start, end) in tables(original).into_iter().flatten() {
        let mut from = start;
        for &(used_start, used_end) in used.iter().filter(|used| used.1 > start && used.0 < end) {
            add(from, used_start.min(end), "the room of relocations that are gone");
            from = from.max(used_end);
        }
        add(from, end, "the room of relocations that are gone");
    }
    for (start, end) in merged(empty_relocations(copy)) {
        add(start, end, "relocations of the copy that say to do nothing");
    }
    let (first, second) = (areas::program_headers(original), areas::program_headers(copy));
    if first.0 != second.0 {
        add(
            first.0,
            first.0 + first.1,
            "the room of the program headers, which stand elsewhere",
        );
    }
    let table = |image: &Image<'_>| {
        let segment = image.segment(elf::PT_DYNAMIC)?;
        let start = segment.p_offset.get(LE);
        Some((start, start.saturating_add(segment.p_filesz.get(LE))))
    };
    if let (Some(first), Some(second)) = (table(original), table(copy))
        && first.0 != second.0
    {
        add(
            first.0,
            first.1,
            "the room of the dynamic table, which stands elsewhere",
        );
    }
    add(
        original.size(),
        copy.size(),
        "what stands behind the original's end",
    );
    ignored
}

/// Where in the file entries of relocation tables stand that stand for nothing.
fn empty_relocations(image: &Image<'_>) -> Vec<(u64, u64)> {
    const ENTRY: u64 = size_of::<elf::Rela64<LE>>() as u64;
    let dynamic = &image.dynamic;
    let mut empty = Vec::new();
    for (start, size) in [dynamic.relocations, dynamic.functions] {
        let entries = image.table::<elf::Rela64<LE>>(start, size).unwrap_or_default();
        let places = (start..).step_by(ENTRY as usize).zip(entries);
        let nothing = places.filter(|(_, entry)| entry.r_type(LE, false).0 == 0);
        empty.extend(nothing.filter_map(|(at, _)| in_file(image, at, at.saturating_add(ENTRY))));
    }
    empty
}

/// Where addresses are in the file.
fn in_file(image: &Image<'_>, start: u64, end: u64) -> Option<(u64, u64)> {
    let load = image.loads().find(|load| {
        let within = start.checked_sub(load.p_vaddr.get(LE));
        within.is_some_and(|within| within < load.p_filesz.get(LE))
    })?;
    let begin = load.p_offset.get(LE).checked_add(start - load.p_vaddr.get(LE))?;
    Some((begin, begin.checked_add(end.checked_sub(start)?)?))
}

/// Ranges in order, none overlapping another.
pub fn merged(ranges: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<_> = ranges.into_iter().filter(|range| range.0 < range.1).collect();
    ranges.sort_unstable();
    let mut merged = Vec::<(u64, u64)>::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Compares what of the original's file is in none of the ranges.
fn bytes(original: &Image<'_>, copy: &Image<'_>, without: &[(u64, u64)], report: &mut Report) {
    let size = original.size();
    let mut from = 0;
    for &(start, end) in without.iter().chain(&[(size, size)]) {
        let start = start.min(size);
        let mut at = from;
        while at < start {
            // Up to the next multiple of a word, so that a difference is told once for each word; equal stretches go fast.
            let stretch = (at + (1 << 16)).min(start);
            if part(original, at, stretch) == part(copy, at, stretch) {
                at = stretch;
                continue;
            }
            let next = ((at / WORD + 1) * WORD).min(start);
            if part(original, at, next) != part(copy, at, next) {
                report.differs(difference(original, copy, at, next));
            }
            at = next;
        }
        report.bytes += start.saturating_sub(from);
        from = from.max(end);
    }
}

fn part<'a>(image: &Image<'a>, start: u64, end: u64) -> Option<&'a [u8]> {
    image
        .bytes()
        .get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

fn difference(original: &Image<'_>, copy: &Image<'_>, at: u64, end: u64) -> Difference {
    let value = |image: &Image<'_>| {
        part(image, at, end).map_or(Value::Absent, |bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            Value::Number(u64::from_le_bytes(word))
        })
    };
    let load = original.loads().find(|load| {
        let start = load.p_offset.get(LE);
        (start..start.saturating_add(load.p_filesz.get(LE))).contains(&at)
    });
    let (offset, what) = load.map_or((at, What::NotLoaded), |load| {
        let address = load.p_vaddr.get(LE).wrapping_add(at - load.p_offset.get(LE));
        (address.wrapping_sub(areas::origin(original)), What::Bytes)
    });
    Difference {
        object: String::new(),
        offset,
        what,
        original: value(original),
        copy: value(copy),
    }
}

//! Base relocations: the places that hold addresses of the image itself.
//!
//! They were linked for the preferred base. When the image lies elsewhere, the loader adds the distance to each. They come in
//! blocks, one a page, each entry four bits of type and twelve of offset.

use object::pe;

use super::view::entry;
use super::{Budget, Directory, Headers, PAGE, Unreadable, View};

const CUT: Unreadable = Unreadable::Damaged("its base relocations are cut off");

/// What is to be done at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// Nothing: it fills a block to a multiple of four bytes.
    Absolute,
    /// The upper half of an address of 32 bits.
    High,
    /// The lower half.
    Low,
    /// An address of 32 bits.
    HighLow,
    /// The upper half, rounded; the lower half stands in the next entry.
    HighAdjusted,
    /// An address of 64 bits.
    Dir64,
    /// Another, which only processors have that this does not read for.
    Other(u8),
}

impl Type {
    const fn of(number: u16) -> Self {
        match number {
            0 => Self::Absolute,
            1 => Self::High,
            2 => Self::Low,
            3 => Self::HighLow,
            4 => Self::HighAdjusted,
            10 => Self::Dir64,
            other => Self::Other(other as u8),
        }
    }

    /// Bytes that it changes.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Absolute | Self::Other(_) => 0,
            Self::High | Self::Low | Self::HighAdjusted => 2,
            Self::HighLow => 4,
            Self::Dir64 => 8,
        }
    }

    /// Its name in the format's description.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absolute => "ABSOLUTE",
            Self::High => "HIGH",
            Self::Low => "LOW",
            Self::HighLow => "HIGHLOW",
            Self::HighAdjusted => "HIGHADJ",
            Self::Dir64 => "DIR64",
            Self::Other(_) => "OTHER",
        }
    }
}

/// A place and what is to be done there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixup {
    /// The RVA of the place.
    pub rva: u32,
    /// The type.
    pub kind: Type,
    /// The lower half of the address, for [`Type::HighAdjusted`].
    pub low: u16,
}

/// The fixups of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The RVA of the page.
    pub rva: u32,
    /// Entries as they stand there, fillings included; the second half of a pair counts for itself.
    pub entries: usize,
    /// The fixups without fillings.
    pub fixups: Vec<Fixup>,
}

/// A block's head.
#[derive(Clone, Copy, Debug)]
struct Block {
    page: u32,
    first: u32,
    entries: u32,
    next: u32,
}

impl Block {
    /// The block at `rva` of a directory that ends at `end`; `None` behind the last.
    fn read<V: View + ?Sized>(view: &V, rva: u32, end: u32) -> Result<Option<Self>, Unreadable> {
        if rva.saturating_add(8) > end {
            return Ok(None);
        }
        let page = view.u32(rva).ok_or(CUT)?;
        let size = view.u32(rva + 4).ok_or(CUT)?;
        // Some linkers fill the directory with zeros; the loader stops there too.
        if size == 0 {
            return Ok(None);
        }
        let next = rva.checked_add(size).filter(|&next| size >= 8 && next <= end);
        Ok(Some(Self {
            page,
            first: rva + 8,
            entries: (size.saturating_sub(8)) / 2,
            next: next.ok_or(Unreadable::Damaged(
                "a block of base relocations has no sound size",
            ))?,
        }))
    }

    /// Entry `index`, and the index of the next.
    fn entry<V: View + ?Sized>(&self, view: &V, index: u32) -> Result<(Fixup, u32), Unreadable> {
        let word = |index| {
            entry(self.first, index, 2)
                .and_then(|rva| view.u16(rva))
                .ok_or(CUT)
        };
        let raw = word(index)?;
        let mut fixup = Fixup {
            rva: self.page.checked_add(u32::from(raw & 0xfff)).ok_or(CUT)?,
            kind: Type::of(raw >> 12),
            low: 0,
        };
        if fixup.kind == Type::HighAdjusted {
            if index + 1 >= self.entries {
                return Err(CUT);
            }
            fixup.low = word(index + 1)?;
            return Ok((fixup, index + 2));
        }
        Ok((fixup, index + 1))
    }
}

/// Where the base relocations lie, if there are any.
#[must_use]
pub fn directory(headers: &Headers) -> Option<Directory> {
    headers
        .directory(pe::IMAGE_DIRECTORY_ENTRY_BASERELOC)
        .filter(|directory| directory.size != 0)
}

/// Reads all blocks.
///
/// # Errors
/// When they are damaged.
pub fn list<V: View + ?Sized>(
    view: &V,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<Vec<Page>, Unreadable> {
    let mut pages = Vec::new();
    let Some(directory) = directory(headers) else {
        return Ok(pages);
    };
    let end = directory.rva.checked_add(directory.size).ok_or(CUT)?;
    let mut rva = directory.rva;
    while let Some(block) = Block::read(view, rva, end)? {
        budget.spend(1 + block.entries as usize)?;
        let mut fixups = Vec::new();
        let mut index = 0;
        while index < block.entries {
            let (fixup, next) = block.entry(view, index)?;
            if fixup.kind != Type::Absolute {
                fixups.push(fixup);
            }
            index = next;
        }
        pages.push(Page {
            rva: block.page,
            entries: block.entries as usize,
            fixups,
        });
        rva = block.next;
    }
    Ok(pages)
}

/// Pages of an image, each marked or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages(Vec<u64>);

impl Pages {
    /// Room for the pages of an image of so many bytes, none marked.
    #[must_use]
    pub fn of(size: usize) -> Self {
        let pages = size.div_ceil(PAGE as usize);
        Self(vec![0; pages.div_ceil(64)])
    }

    /// Marks the pages of `length` bytes at `rva`; `length` is at least 1.
    pub fn mark(&mut self, rva: u32, length: u32) {
        let last = rva.saturating_add(length.saturating_sub(1)) / PAGE;
        for page in rva / PAGE..=last {
            if let Some(word) = self.0.get_mut(page as usize / 64) {
                *word |= 1 << (page % 64);
            }
        }
    }

    /// Marked pages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Applies all fixups to an image in memory that lies `distance` above where it was linked for (modulo 2^64). Gives how many there
/// were, and marks the pages that were written.
///
/// # Errors
/// When they are damaged, lie outside the image, or have a type of another processor.
pub fn apply(
    image: &mut [u8],
    directory: Directory,
    distance: u64,
    dirty: &mut Pages,
) -> Result<u64, Unreadable> {
    let mut applied = 0;
    let end = directory.rva.checked_add(directory.size).ok_or(CUT)?;
    let mut rva = directory.rva;
    while let Some(block) = Block::read(&*image, rva, end)? {
        let mut index = 0;
        while index < block.entries {
            let (fixup, next) = block.entry(&*image, index)?;
            index = next;
            if fixup.kind != Type::Absolute {
                apply_one(image, fixup, distance)?;
                dirty.mark(fixup.rva, fixup.kind.width());
                applied += 1;
            }
        }
        rva = block.next;
    }
    Ok(applied)
}

fn apply_one(image: &mut [u8], fixup: Fixup, distance: u64) -> Result<(), Unreadable> {
    const OUTSIDE: Unreadable = Unreadable::Damaged("a base relocation lies outside the image");
    let place = image.get_mut(fixup.rva as usize..).ok_or(OUTSIDE)?;
    let narrow = distance as u32;
    match fixup.kind {
        Type::Absolute => {}
        Type::Dir64 => {
            let bytes = place.first_chunk_mut().ok_or(OUTSIDE)?;
            *bytes = u64::from_le_bytes(*bytes).wrapping_add(distance).to_le_bytes();
        }
        Type::HighLow => {
            let bytes = place.first_chunk_mut().ok_or(OUTSIDE)?;
            *bytes = u32::from_le_bytes(*bytes).wrapping_add(narrow).to_le_bytes();
        }
        Type::High | Type::Low | Type::HighAdjusted => {
            let bytes = place.first_chunk_mut().ok_or(OUTSIDE)?;
            let half = u16::from_le_bytes(*bytes);
            *bytes = moved_half(half, fixup, narrow).to_le_bytes();
        }
        Type::Other(_) => {
            return Err(Unreadable::Damaged(
                "a base relocation is of a type that is not known for this processor",
            ));
        }
    }
    Ok(())
}

fn moved_half(half: u16, fixup: Fixup, distance: u32) -> u16 {
    let high = u32::from(half) << 16;
    match fixup.kind {
        Type::High => (high.wrapping_add(distance) >> 16) as u16,
        Type::HighAdjusted => {
            let low = i32::from(fixup.low.cast_signed()).cast_unsigned();
            let rounded = high.wrapping_add(low).wrapping_add(distance).wrapping_add(0x8000);
            (rounded >> 16) as u16
        }
        _ => half.wrapping_add(distance as u16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with one block for page 0, at the end of an image of 256 bytes.
    fn image(entries: &[u16]) -> (Vec<u8>, Directory) {
        let mut image = vec![0; 256];
        let size = 8 + entries.len() as u32 * 2;
        image[128..132].copy_from_slice(&0_u32.to_le_bytes());
        image[132..136].copy_from_slice(&size.to_le_bytes());
        for (index, entry) in entries.iter().enumerate() {
            image[136 + index * 2..138 + index * 2].copy_from_slice(&entry.to_le_bytes());
        }
        (image, Directory { rva: 128, size })
    }

    #[test]
    fn every_type_moves_what_it_says() {
        let (mut image, directory) = image(&[0xa000, 0x3008, 0x100c, 0x200e, 0x4010, 0x9000, 0x0000]);
        image[0..8].copy_from_slice(&0x1_8000_1234_u64.to_le_bytes());
        image[8..12].copy_from_slice(&0x1000_5678_u32.to_le_bytes());
        image[12..14].copy_from_slice(&0x1000_u16.to_le_bytes());
        image[14..16].copy_from_slice(&0x5678_u16.to_le_bytes());
        image[16..18].copy_from_slice(&0x1001_u16.to_le_bytes());
        let mut dirty = Pages::of(image.len());
        let applied = apply(&mut image, directory, 0x0023_0001, &mut dirty).unwrap();
        assert_eq!((applied, dirty.count()), (5, 1));
        assert_eq!(image.u64(0), Some(0x1_8023_1235));
        assert_eq!(image.u32(8), Some(0x1023_5679));
        assert_eq!(image.u16(12), Some(0x1023));
        assert_eq!(image.u16(14), Some(0x5679));
        // 0x10010000 - 0x7000 + 0x230001 + 0x8000, its upper half.
        assert_eq!(image.u16(16), Some(0x1024));
    }

    #[test]
    fn moving_there_and_back_changes_nothing() {
        let (before, directory) = image(&[0xa000, 0x3008, 0x100c, 0x200e]);
        let mut image = before.clone();
        let mut dirty = Pages::of(image.len());
        for distance in [0x1234_0000_u64, 0x1234_0000_u64.wrapping_neg()] {
            apply(&mut image, directory, distance, &mut dirty).unwrap();
        }
        assert_eq!(image, before);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        for (entries, why) in [
            (&[0xafff_u16][..], "outside"),
            (&[0x4000], "cut off"),
            (&[0x5000], "not known"),
        ] {
            let (mut image, directory) = image(entries);
            let mut dirty = Pages::of(image.len());
            let error = apply(&mut image, directory, 1, &mut dirty).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
        let (mut image, directory) = image(&[0]);
        image[132] = 7;
        let mut dirty = Pages::of(image.len());
        assert!(apply(&mut image, directory, 1, &mut dirty).is_err());
    }

    #[test]
    fn a_place_across_two_pages_marks_both() {
        let mut pages = Pages::of(3 * 4096);
        pages.mark(4090, 8);
        assert_eq!(pages.count(), 2);
        pages.mark(0, 1);
        pages.mark(1_000_000, 4);
        assert_eq!(pages.count(), 2);
    }
}

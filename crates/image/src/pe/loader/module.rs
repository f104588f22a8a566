//! One file in memory.

use super::super::exports::Table;
use super::super::fixups::Pages;
use super::super::{File, PAGE, Unreadable};

/// A mapped file.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its number among the files of the plan.
    pub file: usize,
    /// Where it lies.
    pub base: u64,
    /// True when that is not its preferred base.
    pub moved: bool,
    /// Its image: headers and sections at their RVAs.
    pub image: Vec<u8>,
    /// Pages that were written after mapping.
    pub dirty: Pages,
    /// Fixups that were applied to it.
    pub fixups: u64,
    pub(super) exports: Option<Table>,
}

/// Memory for images that files of any size may ask for: bytes of `.bss` cost nothing in a file.
const FREE_BYTES: u64 = 64 << 20;
/// And so many times the bytes of the files.
const TIMES_FILES: u64 = 16;

/// The most memory that the images of files of so many bytes get.
pub(super) const fn memory_for(bytes: u64) -> u64 {
    FREE_BYTES.saturating_add(bytes.saturating_mul(TIMES_FILES))
}

/// Copies headers and sections of a file to their places, into a buffer that may be left from another image.
///
/// # Errors
/// When a part lies outside the file or the image, or the image is out of proportion to the file.
pub(in super::super) fn map(file: &File<'_>, mut image: Vec<u8>) -> Result<Vec<u8>, Unreadable> {
    const OUTSIDE: Unreadable = Unreadable::Damaged("a section lies beyond the end of the file");
    let headers = &file.headers;
    let size = headers
        .size_of_image
        .checked_next_multiple_of(PAGE)
        .ok_or(Unreadable::Damaged("its image has no sound size"))? as usize;
    if size as u64 > memory_for(file.bytes.len() as u64) {
        return Err(Unreadable::Damaged("its image is out of proportion to the file"));
    }
    image.clear();
    image.resize(size, 0);
    let mut copy = |from: std::ops::Range<usize>, to: usize| {
        let source = file.bytes.get(from).ok_or(OUTSIDE)?;
        let place = image
            .get_mut(to..to.saturating_add(source.len()))
            .ok_or(OUTSIDE)?;
        place.copy_from_slice(source);
        Ok(())
    };
    copy(0..(headers.size_of_headers as usize).min(file.bytes.len()), 0)?;
    for section in &headers.sections {
        let start = section.offset as usize;
        let end = start.saturating_add(section.stored as usize);
        copy(start..end, section.rva as usize)?;
    }
    Ok(image)
}

//! Writing a copy of a program or library for another address, with what the loader would have to do for it done already.
//!
//! A shared library is linked as if it were loaded at address 0, and the loader adds the real address to each word that
//! needs it. A file that is linked for its real address needs no adding, but the loader of x86-64 adds all the same (0, which
//! costs as much): only relocations that are not there are free. So a moved copy has its relative relocations applied and
//! removed, and of those that ask for a symbol all whose answer is known ([`Fate`]).
//!
//! All that holds addresses moves along: program headers, the dynamic table, symbols, what remains of the relocations, and the
//! section headers, which debuggers and profilers read. Sizes and offsets in the file stay, so no distance in the code
//! changes. What needs more room (longer names of libraries) goes into a segment of its own at the end ([`Texts`]).
//!
//! Not carried over are embedded debugging sections, whose addresses would be wrong; separate ones are found by build identity.

mod draft;
mod dynamic;
mod extra;
mod headers;
mod ranges;
mod symbols;
mod tables;

use std::collections::HashMap;

use super::relocations::{self, Kind};
use super::{Image, Machine, Unreadable};

use draft::Draft;

/// Pages are this long, or longer: no segment may share one with another file's.
pub const PAGE: u64 = 4096;

/// What becomes of a relocation that asks for a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The word is known and is written into the file; the relocation goes.
    Write(u64),
    /// Somebody else writes the word at run time, before it is read; the relocation goes.
    Leave,
}

/// A relocation that makes the loader call a function: the loader writes its answer somewhere, and the function may do
/// whatever it likes. Both are addresses at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The word that gets the answer.
    pub answer: u64,
    /// The function, which takes nothing.
    pub function: u64,
}

/// New texts in the place of old ones; `None` leaves the old.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The needed libraries (`DT_NEEDED`), in order.
    pub needed: Option<Vec<String>>,
    /// Where libraries are searched for this file and all that it loads (`DT_RPATH`).
    pub rpath: Option<String>,
    /// Where they are searched for this file (`DT_RUNPATH`).
    pub runpath: Option<String>,
    /// The loader that the kernel starts (`PT_INTERP`). In memory the old name stays in its place, where the loader that is then
    /// started looks up what it is called.
    pub interpreter: Option<String>,
}

impl Texts {
    pub(super) const fn is_empty(&self) -> bool {
        self.needed.is_none() && self.rpath.is_none() && self.runpath.is_none() && self.interpreter.is_none()
    }
}

/// How a file is moved.
#[derive(Clone, Debug, Default)]
pub struct Move {
    /// So many bytes up; a multiple of [`alignment`].
    pub by: u64,
    /// By address in the original's terms: what becomes of the relocations. Relative ones are not named; they are applied.
    pub fates: HashMap<u64, Fate>,
    /// Instead of one that went.
    pub call: Option<Call>,
    /// New texts.
    pub texts: Texts,
    /// The copy is a program at fixed addresses (`ET_EXEC`), whatever it was.
    pub fixed: bool,
}

/// A moved file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The file.
    pub bytes: Vec<u8>,
    /// Where a program's loader stores what debuggers look for: the address of the value of `DT_DEBUG` at run time.
    pub debug: Option<u64>,
    /// Relative relocations that were applied and removed, packed ones included.
    pub relative: u64,
    /// Relocations for symbols that were removed.
    pub bound: u64,
    /// Relocations that remain for the loader, [`Move::call`] included.
    pub kept: u64,
}

/// Why a file stays where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Immovable {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Nobody has taught us its processor yet.
    #[error("it is for {}; files for x86_64 can be moved", .0.name())]
    Machine(Machine),
    /// The loader writes to its code.
    #[error("the loader has to write to its code (DT_TEXTREL)")]
    TextRelocations,
    /// It has no dynamic table.
    #[error("it has no dynamic table, so nothing tells what in it is an address")]
    Static,
    /// An entry of the dynamic table that may be an address or not.
    #[error("its dynamic table has an entry of an unknown kind ({0:#x})")]
    UnknownEntry(i64),
    /// An entry of the dynamic table that stands for something that is not done here.
    #[error("its dynamic table has an entry that is not carried over ({0})")]
    UnsupportedEntry(&'static str),
    /// Its segments do not lie as loaders require.
    #[error("its segments are not in the order of their addresses, or share a page")]
    Layout,
    /// Two of its tables, or a table and a place that a relocation writes to.
    #[error("its tables overlap, or a relocation writes to one of them")]
    Overlap,
    /// Two relocations write to the same place, and the last one wins.
    #[error("two of its relocations write to the same place ({0:#x})")]
    Twice(u64),
    /// It would lie outside of the address space.
    #[error("it does not fit in behind {0:#x}")]
    TooHigh(u64),
    /// It is to be moved by an amount that its segments do not allow.
    #[error("it can be moved by multiples of {0:#x} only")]
    Misaligned(u64),
    /// There is no room for [`Move::call`].
    #[error("it has no relocation whose place another could take")]
    NoRoom,
}

/// The range of addresses that a file takes when it is not moved: its first page, and the byte behind its last; with the segment
/// that new texts need.
///
/// # Errors
/// When the file cannot be moved.
pub fn extent(image: &Image<'_>, texts: &Texts) -> Result<(u64, u64), Immovable> {
    let (begin, end) = headers::extent(image)?;
    if texts.is_empty() {
        return Ok((begin, end));
    }
    let end = end
        .checked_add(extra::size(image, texts)?)
        .ok_or(Immovable::Layout)?;
    Ok((begin, end))
}

/// What the distance of a move must be a multiple of: the largest alignment of any segment.
#[must_use]
pub fn alignment(image: &Image<'_>) -> u64 {
    image
        .segments()
        .iter()
        .map(|segment| segment.p_align.get(object::LittleEndian))
        .filter(|align| align.is_power_of_two() && *align <= 1 << 30)
        .max()
        .unwrap_or(1)
        .max(PAGE)
}

/// Whether the table of relocations goes into the segment of the new texts.
fn spills(image: &Image<'_>, texts: &Texts) -> Result<bool, Immovable> {
    Ok(!texts.is_empty() && tables::may_spill(image)?)
}

/// Whether a call can be put in ([`Move::call`]) when the relocations meet these fates.
///
/// # Errors
/// When the tables are damaged.
pub fn has_room(image: &Image<'_>, fates: &HashMap<u64, Fate>, texts: &Texts) -> Result<bool, Immovable> {
    let draft = Draft::new(image, 0)?;
    let spills = spills(image, texts)?;
    Ok(tables::rewritten(image, &draft, fates, None, spills)?.has_room())
}

/// Moves a file.
///
/// # Errors
/// Why it cannot be moved.
pub fn moved(image: &Image<'_>, how: &Move) -> Result<Moved, Immovable> {
    check(image)?;
    let alignment = alignment(image);
    if !how.by.is_multiple_of(alignment) {
        return Err(Immovable::Misaligned(alignment));
    }
    let (_, end) = extent(image, &how.texts)?;
    if end.checked_add(how.by).is_none_or(|end| end >= 1 << 47) {
        return Err(Immovable::TooHigh(how.by));
    }
    let mut draft = Draft::new(image, how.by)?;
    let spills = spills(image, &how.texts)?;
    let tables = tables::rewritten(image, &draft, &how.fates, how.call, spills)?;
    if how.call.is_some() && !tables.has_room() {
        return Err(Immovable::NoRoom);
    }
    let (relative, bound, kept) = tables.apply(image, &mut draft)?;
    symbols::moved(image, &mut draft)?;
    dynamic::moved(image, &mut draft, &tables, how.fixed)?;
    headers::moved(image, &mut draft, &tables, how.fixed)?;
    let debug = if how.texts.is_empty() {
        dynamic::debug(image, &draft)
    } else {
        extra::append(image, &mut draft, &how.texts, &tables)?
    };
    reread(&draft.bytes, kept)?;
    Ok(Moved {
        bytes: draft.bytes,
        debug,
        relative,
        bound,
        kept,
    })
}

/// The copy must have as many relocations left as were meant: a table whose size stands nowhere cannot be changed.
fn reread(bytes: &[u8], kept: u64) -> Result<(), Immovable> {
    let image = Image::parse(bytes)?;
    let left = relocations::unpacked(&image)?.filter(|relocation| relocation.kind != Kind::None);
    if left.count() as u64 == kept && image.dynamic.packed.1 == 0 {
        Ok(())
    } else {
        Err(Immovable::Unreadable(Unreadable::Damaged(
            "its tables of relocations contradict each other",
        )))
    }
}

/// Whether this kind of file can be moved at all.
///
/// # Errors
/// Why not.
pub fn check(image: &Image<'_>) -> Result<(), Immovable> {
    if image.machine() != Machine::X86_64 {
        return Err(Immovable::Machine(image.machine()));
    } else if !image.has_dynamic() {
        return Err(Immovable::Static);
    } else if image.has_textrel() {
        return Err(Immovable::TextRelocations);
    }
    dynamic::check(image)?;
    headers::extent(image).map(drop)
}

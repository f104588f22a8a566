//! Mapping the real loader, as the kernel would have done.
//!
//! Where its segments go was found when the program was bound; that it is the same file is seen by the descriptor that
//! is mapped, so that nothing can change in between. The kernel is free to choose the address, which stays random.
#![expect(unsafe_code, reason = "maps a program and zeroes a part of it")]

use core::ptr::with_exposed_provenance_mut;

use crate::checks::Reason;
use crate::layout::{ANONYMOUS, LOADER, LOADER_ENTRY, LOADER_SPAN, PIECES, ZEROES};
use crate::plan::{Plan, damaged};
use crate::sys::{self, Errno};

/// The loader in memory.
pub struct Loader {
    /// Its load address.
    pub base: usize,
    /// The address of its first instruction.
    pub entry: usize,
}

/// Maps the loader.
pub fn map(plan: Plan) -> Result<Loader, Reason> {
    let path = plan.text(plan.word(LOADER));
    let file = sys::open(path).map_err(|_| Reason::of_file(path, b" cannot be opened"))?;
    if sys::identity_of(&file).ok() != Some(plan.loader_identity()) {
        return Err(Reason::of_file(path, b" has changed"));
    }
    let base = map_pieces(plan, &file).map_err(|_| Reason::of_file(path, b" cannot be mapped"))?;
    for [offset, length] in plan.table(ZEROES) {
        zero(base + *offset as usize, *length as usize);
    }
    Ok(Loader {
        base,
        entry: base + plan.word(LOADER_ENTRY) as usize,
    })
}

/// The first piece takes the whole span, so that the others find a place behind it; each of them replaces its part.
fn map_pieces(plan: Plan, file: &sys::Fd) -> Result<usize, Errno> {
    let span = plan.word(LOADER_SPAN) as usize;
    let Some(([_, _, protection, offset], others)) = plan.table(PIECES).split_first() else {
        damaged()
    };
    let base = sys::map(file, *offset as usize, span, *protection as usize)?;
    for [address, length, protection, offset] in others {
        let (address, length) = (*address as usize, *length as usize);
        if address.checked_add(length).is_none_or(|end| end > span) {
            damaged()
        }
        let source = (*offset != ANONYMOUS).then_some((file, *offset as usize));
        // SAFETY: the piece lies within what was just mapped, as was just seen.
        unsafe { sys::map_at(base + address, source, length, *protection as usize)? };
    }
    Ok(base)
}

/// Zeroes what lies between the end of a segment in the file and the end of its page. The plan has such parts only in
/// pieces that are writable.
fn zero(begin: usize, length: usize) {
    let begin = with_exposed_provenance_mut::<u8>(begin);
    for index in 0..length {
        // SAFETY: the part lies in a writable piece of the loader, which does not run yet.
        unsafe { begin.wrapping_add(index).write_volatile(0) };
    }
}

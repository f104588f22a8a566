//! Thread-local storage: what the loader copies for each thread, and calls before the entry point.

use object::pe;

use super::view::entry;
use super::{Budget, Headers, Unreadable, View, imports};

/// A file's thread-local storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Bytes that are copied for each thread.
    pub template: u64,
    /// Zero bytes behind them.
    pub zero_fill: u32,
    /// Functions that are called before the entry point and with each thread.
    pub callbacks: u32,
}

/// Reads the directory.
///
/// # Errors
/// When it is damaged.
pub fn read<V: View + ?Sized>(
    view: &V,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<Option<Tls>, Unreadable> {
    const CUT: Unreadable = Unreadable::Damaged("its thread-local storage is cut off");
    let Some(directory) = headers.directory(pe::IMAGE_DIRECTORY_ENTRY_TLS) else {
        return Ok(None);
    };
    let width = imports::width(headers.wide);
    let field = |index: u32| {
        entry(directory.rva, index, width)
            .and_then(|rva| view.word(rva, headers.wide))
            .ok_or(CUT)
    };
    let (start, end, list) = (field(0)?, field(1)?, field(3)?);
    let zero_fill = entry(directory.rva, 4, width)
        .and_then(|rva| view.u32(rva))
        .ok_or(CUT)?;
    let mut callbacks = 0;
    // These are addresses, not RVAs.
    if let Some(first) = list
        .checked_sub(headers.base)
        .and_then(|rva| u32::try_from(rva).ok())
    {
        while entry(first, callbacks, width)
            .and_then(|rva| view.word(rva, headers.wide))
            .ok_or(CUT)?
            != 0
        {
            budget.spend(1)?;
            callbacks += 1;
        }
    }
    Ok(Some(Tls {
        template: end.saturating_sub(start),
        zero_fill,
        callbacks,
    }))
}

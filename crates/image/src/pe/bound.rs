//! The directory of bound imports: to which libraries the addresses in the import address tables belong.
//!
//! The addresses hold as long as each library, and each library that one of its exports is forwarded to, has the stated stamp and
//! lies at its preferred base. Names are given as offsets from the start of the directory, which usually lies in the
//! room behind the section table.

use object::pe;

use super::{Headers, Unreadable, View};

/// More entries than this are taken for damage.
const MOST: usize = 4096;
/// Bytes of an entry.
pub(super) const ENTRY: u32 = 8;

/// A library and the stamp that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// Its name.
    pub library: &'a [u8],
    /// Its stamp; 0 matches no library: it was listed and not bound.
    pub stamp: u32,
}

/// One library of the import table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound<'a> {
    /// The library.
    pub reference: Reference<'a>,
    /// Libraries that some of its exports are forwarded to.
    pub forwarders: Vec<Reference<'a>>,
}

/// A walk through the entries, without memory of its own.
#[derive(Debug)]
pub struct Walk<'a, V: ?Sized> {
    view: &'a V,
    start: u32,
    /// The RVA of the next entry.
    pub next: u32,
    left: usize,
}

impl<'a, V: View + ?Sized> Walk<'a, V> {
    /// From the first entry; `None` when there is no directory.
    pub fn new(view: &'a V, headers: &Headers) -> Option<Self> {
        let start = headers.directory(pe::IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT)?.rva;
        Some(Self {
            view,
            start,
            next: start,
            left: MOST,
        })
    }

    /// The next entry and how many of the entries behind it are its forwarders; `None` at the end.
    ///
    /// # Errors
    /// When the directory is cut off, or does not end.
    pub fn entry(&mut self) -> Result<Option<(Reference<'a>, u16)>, Unreadable> {
        const CUT: Unreadable = Unreadable::Damaged("its directory of bound imports is cut off");
        let stamp = self.view.u32(self.next).ok_or(CUT)?;
        let name = self.view.u16(self.next.saturating_add(4)).ok_or(CUT)?;
        let forwarders = self.view.u16(self.next.saturating_add(6)).ok_or(CUT)?;
        if name == 0 {
            return Ok(None);
        }
        self.next = self.next.saturating_add(ENTRY);
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(Unreadable::Damaged("its directory of bound imports does not end"))?;
        let library = self.view.text(self.start.saturating_add(name.into()))?;
        Ok(Some((Reference { library, stamp }, forwarders)))
    }

    /// An entry that must be there.
    ///
    /// # Errors
    /// When the directory ends or is damaged.
    pub fn forwarder(&mut self) -> Result<Reference<'a>, Unreadable> {
        let (reference, _reserved) = self.entry()?.ok_or(Unreadable::Damaged(
            "its directory of bound imports ends before its last forwarder",
        ))?;
        Ok(reference)
    }
}

/// Reads the whole directory.
///
/// # Errors
/// When it is damaged.
pub fn list<'a, V: View + ?Sized>(view: &'a V, headers: &Headers) -> Result<Vec<Bound<'a>>, Unreadable> {
    let mut found = Vec::new();
    let Some(mut walk) = Walk::new(view, headers) else {
        return Ok(found);
    };
    while let Some((reference, count)) = walk.entry()? {
        let forwarders: Result<Vec<_>, _> = (0..count).map(|_| walk.forwarder()).collect();
        found.push(Bound {
            reference,
            forwarders: forwarders?,
        });
    }
    Ok(found)
}

//! A file: its bytes and its headers, readable at RVAs.

use super::{Budget, Headers, Unreadable, View};
use super::{bound, delay, exports, fixups, imports, tls};

/// A PE file.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// What its headers say.
    pub headers: Headers,
}

impl<'a> File<'a> {
    /// Reads the headers; the tables are read when they are asked for.
    ///
    /// # Errors
    /// When it is no PE file, or its headers make no sense.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let headers = Headers::read(bytes)?;
        Ok(Self { bytes, headers })
    }

    /// What may be spent on one of its tables.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        Budget::of(self.bytes.len())
    }

    /// What it imports, library by library, in order.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn imports(&self) -> Result<Vec<imports::Import<'_>>, Unreadable> {
        imports::list(self, &self.headers, &mut self.budget())
    }

    /// What it imports at the first call only.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn delayed(&self) -> Result<Vec<delay::Delayed<'_>>, Unreadable> {
        delay::list(self, &self.headers, &mut self.budget())
    }

    /// Which libraries its imports were bound to.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn bound(&self) -> Result<Vec<bound::Bound<'_>>, Unreadable> {
        bound::list(self, &self.headers)
    }

    /// What it exports.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn exports(&self) -> Result<exports::List<'_>, Unreadable> {
        exports::list(self, &self.headers, &mut self.budget())
    }

    /// Its base relocations, block by block.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn fixups(&self) -> Result<Vec<fixups::Page>, Unreadable> {
        fixups::list(self, &self.headers, &mut self.budget())
    }

    /// Its thread-local storage, if it has any.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn tls(&self) -> Result<Option<tls::Tls>, Unreadable> {
        tls::read(self, &self.headers, &mut self.budget())
    }
}

impl View for File<'_> {
    fn from(&self, rva: u32) -> &[u8] {
        let headers = &self.headers;
        let range = match headers.section_at(rva) {
            Some(section) => {
                let start = section.offset as usize;
                let end = start.saturating_add(section.stored as usize);
                start.saturating_add((rva - section.rva) as usize)..end
            }
            None if rva < headers.size_of_headers => rva as usize..headers.size_of_headers as usize,
            None => return &[],
        };
        let end = range.end.min(self.bytes.len());
        self.bytes.get(range.start..end).unwrap_or_default()
    }
}

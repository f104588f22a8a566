//! Reading a file piece by piece with a limit on every piece and on the sum, so that a file of a few bytes that claims to
//! have a section of a terabyte costs nothing.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;

use object::{ReadCache, ReadRef};

/// More than the symbol table of any program that people run.
const MAX_PIECE: u64 = 128 << 20;
const MAX_SUM: u64 = 512 << 20;

/// A file to be parsed; the parsers take `&Bounded`.
pub(super) struct Bounded {
    cache: ReadCache<File>,
    left: Cell<u64>,
}

impl Bounded {
    pub(super) fn new(file: File) -> Self {
        Self {
            cache: ReadCache::new(file),
            left: Cell::new(MAX_SUM),
        }
    }

    /// The first bytes of the file, at most `count`.
    pub(super) fn head(&self, count: u64) -> io::Result<&[u8]> {
        let length = ReadRef::len(self).map_err(|()| unreadable())?;
        self.read_bytes_at(0, length.min(count))
            .map_err(|()| unreadable())
    }

    fn charge(&self, size: u64) -> Result<(), ()> {
        let left = self
            .left
            .get()
            .checked_sub(size)
            .filter(|_| size <= MAX_PIECE)
            .ok_or(())?;
        self.left.set(left);
        Ok(())
    }
}

fn unreadable() -> io::Error {
    io::Error::other("the file cannot be read")
}

impl<'a> ReadRef<'a> for &'a Bounded {
    fn len(self) -> Result<u64, ()> {
        ReadRef::len(&self.cache)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.charge(size)?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        // The cache looks at no more than this many bytes.
        self.charge(4096)?;
        self.cache.read_bytes_at_until(range, delimiter)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn pieces_and_their_sum_are_limited() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        // Sparse: the length costs no space.
        file.set_len(1 << 40).unwrap();
        let file = Bounded::new(file);
        assert_eq!(file.head(3).unwrap(), b"abc");
        assert_eq!((&file).read_bytes_at(0, MAX_PIECE + 1), Err(()));
        assert_eq!((&file).read_bytes_at(1 << 41, 1), Err(()));
        assert_eq!((&file).read_bytes_at(u64::MAX, 2), Err(()));
        file.left.set(10);
        assert!((&file).read_bytes_at(5, 8).is_ok());
        assert_eq!((&file).read_bytes_at(50, 8), Err(()));
    }
}

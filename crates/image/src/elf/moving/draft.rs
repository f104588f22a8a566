//! A copy of a file that is being changed, seen by the addresses of the original.

use object::LittleEndian as LE;
use object::elf;
use object::pod::{self, Pod};

use super::super::{Image, Unreadable};
use super::Immovable;

pub(super) struct Draft {
    pub(super) bytes: Vec<u8>,
    /// How far everything moves up.
    pub(super) by: u64,
    loads: Vec<Load>,
}

struct Load {
    address: u64,
    offset: u64,
    size: u64,
    writable: bool,
}

/// Bytes of a word.
const WORD: u64 = 8;

impl Draft {
    pub(super) fn new(image: &Image<'_>, by: u64) -> Result<Self, Immovable> {
        let loads = image.segments().iter();
        let loads = loads.filter(|segment| segment.p_type.get(LE) == elf::PT_LOAD);
        Ok(Self {
            bytes: image.bytes().to_vec(),
            by,
            loads: loads
                .map(|load| Load {
                    address: load.p_vaddr.get(LE),
                    offset: load.p_offset.get(LE),
                    size: load.p_filesz.get(LE),
                    writable: load.p_flags.get(LE).0 & elf::PF_W.0 != 0,
                })
                .collect(),
        })
    }

    /// An address of the original in the copy; 0 stands for none and stays.
    pub(super) const fn shift(&self, address: u64) -> u64 {
        if address == 0 {
            0
        } else {
            address.wrapping_add(self.by)
        }
    }

    /// Where in the file so many bytes of an address are, and whether the program may write to them. None for what is not in the
    /// file (memory that begins as zeros).
    pub(super) fn place(&self, address: u64, size: u64) -> Option<(usize, bool)> {
        self.loads.iter().find_map(|load| {
            let within = address.checked_sub(load.address)?;
            if within.checked_add(size)? > load.size {
                return None;
            }
            let offset = usize::try_from(load.offset.checked_add(within)?).ok()?;
            Some((offset, load.writable))
        })
    }

    /// Whether a word is in the file and the loader may write to it.
    pub(super) fn is_writable(&self, address: u64) -> bool {
        self.place(address, WORD).is_some_and(|(_, writable)| writable)
    }

    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let (offset, _) = self.place(address, WORD)?;
        let bytes = self.bytes.get(offset..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    pub(super) fn set_word(&mut self, address: u64, value: u64) -> Result<(), Immovable> {
        let (offset, _) = self.place(address, WORD).ok_or(OUTSIDE)?;
        let bytes = self
            .bytes
            .get_mut(offset..)
            .and_then(|rest| rest.first_chunk_mut());
        *bytes.ok_or(OUTSIDE)? = value.to_le_bytes();
        Ok(())
    }

    /// A table at an offset of the file, to be changed.
    pub(super) fn table<T: Pod>(&mut self, offset: usize, count: usize) -> Result<&mut [T], Immovable> {
        let rest = self.bytes.get_mut(offset..).ok_or(OUTSIDE)?;
        let (table, _) = pod::slice_from_bytes_mut(rest, count).map_err(|()| OUTSIDE)?;
        Ok(table)
    }

    /// A table at an address of the original, to be changed.
    pub(super) fn table_at<T: Pod>(&mut self, address: u64, count: usize) -> Result<&mut [T], Immovable> {
        if count == 0 {
            return Ok(&mut []);
        }
        let size = (count as u64).checked_mul(size_of::<T>() as u64).ok_or(OUTSIDE)?;
        let (offset, _) = self.place(address, size).ok_or(OUTSIDE)?;
        self.table(offset, count)
    }
}

pub(super) const OUTSIDE: Immovable =
    Immovable::Unreadable(Unreadable::Damaged("a table lies outside of its segment"));

//! Reading at relative virtual addresses.
//!
//! All tables of a PE file speak of addresses relative to where the image will lie (RVAs). In a mapped image such an address
//! is an index; in a file it has to be found through the section table. The readers of the tables do not care: they read
//! through [`View`].

use super::Unreadable;

/// Longer names than this are taken for damage: the longest decorated names that compilers make have a few thousand characters.
const LONGEST_NAME: usize = 1 << 16;

/// Something that has bytes at RVAs.
pub trait View {
    /// The bytes from `rva` to the end of what lies there without a gap; empty when nothing does.
    fn from(&self, rva: u32) -> &[u8];

    /// Two bytes, little-endian.
    fn u16(&self, rva: u32) -> Option<u16> {
        let bytes = self.from(rva).first_chunk()?;
        Some(u16::from_le_bytes(*bytes))
    }

    /// Four bytes, little-endian.
    fn u32(&self, rva: u32) -> Option<u32> {
        let bytes = self.from(rva).first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Eight bytes, little-endian.
    fn u64(&self, rva: u32) -> Option<u64> {
        let bytes = self.from(rva).first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    /// An address of the file's own width: eight bytes when `wide`, else four.
    fn word(&self, rva: u32, wide: bool) -> Option<u64> {
        if wide {
            self.u64(rva)
        } else {
            self.u32(rva).map(u64::from)
        }
    }

    /// The characters up to the next NUL.
    ///
    /// # Errors
    /// When there is none within 64 KiB.
    fn text(&self, rva: u32) -> Result<&[u8], Unreadable> {
        let bytes = self.from(rva);
        let bytes = bytes.get(..LONGEST_NAME).unwrap_or(bytes);
        let end = bytes.iter().position(|&byte| byte == 0);
        end.and_then(|end| bytes.get(..end))
            .ok_or(Unreadable::Damaged("a name lies outside or does not end"))
    }
}

/// An image in memory: an RVA is an index.
impl View for [u8] {
    fn from(&self, rva: u32) -> &[u8] {
        self.get(rva as usize..).unwrap_or_default()
    }
}

/// The RVA of entry `index` of a table with entries of `size` bytes.
pub(super) fn entry(table: u32, index: u32, size: u32) -> Option<u32> {
    table.checked_add(index.checked_mul(size)?)
}

//! The loader's index of libraries, `/etc/ld.so.cache`, which ldconfig(8) writes.
//!
//! It says where a library is without a look into any folder. The entries are sorted by name, the highest version
//! first, and one name may have several: for other processors, and for the levels of this one (`glibc-hwcaps`). The
//! format is `glibc-ld.so.cache1.1` (glibc `elf/cache.c`, `sysdeps/generic/dl-cache.h`): a header of 48 bytes,
//! entries of 24 bytes (flags, name, path, system, hardware), then texts; an older table may stand before it.

use std::cmp::Ordering;

use super::Machine;
use super::view::{lossy, until_nul};

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const OLD_MAGIC: &[u8] = b"ld.so-1.7.0\0";
const HEADER: usize = 48;
const ENTRY: usize = 24;
/// The hardware field of an entry for a level of the processor.
const LEVELLED: u32 = 1 << 30;
/// Bits of the upper half of that field that say which level the file itself asks for.
const LEVEL_MASK: u32 = 0x3ff;

/// What the loader knows about the processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// The names of the levels that it reaches, the best first: `x86-64-v4`, `x86-64-v3`, `x86-64-v2`.
    pub levels: Vec<String>,
    /// Its features in the older scheme, as bits (`dl_hwcap`).
    pub features: u64,
    /// Its platform in the older scheme, as a bit number (`dl_string_platform`).
    pub platform_bit: Option<u32>,
}

/// The cache, or what stands in its place.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    bytes: Vec<u8>,
    /// Where the table begins.
    begin: usize,
    count: usize,
    /// Places of the names of levels, by number.
    levels: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Entry {
    flags: u32,
    name: usize,
    path: usize,
    hardware: u64,
}

impl Cache {
    /// Takes a file's content. One that is not understood is an empty cache, as to the loader.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    fn read(bytes: Vec<u8>) -> Option<Self> {
        let begin = if bytes.starts_with(MAGIC) {
            0
        } else if bytes.starts_with(OLD_MAGIC) {
            // Entries of 12 bytes behind a header of 16; the newer table is aligned to 8.
            let old = usize::try_from(u32_at(&bytes, 12)?).ok()?;
            old.checked_mul(12)?
                .checked_add(16)?
                .checked_next_multiple_of(8)?
        } else {
            return None;
        };
        let table = bytes.get(begin..)?;
        // Bits of the byte at 28: 2 is little-endian, 0 was written before there was a byte.
        if !table.starts_with(MAGIC) || !matches!(table.get(28)? & 3, 0 | 2) {
            return None;
        }
        let count = usize::try_from(u32_at(table, 20)?).ok()?;
        let room = table.len().checked_sub(HEADER)? / ENTRY;
        if count > room {
            return None;
        }
        let levels = levels(&bytes, u32_at(table, 32)? as usize).unwrap_or_default();
        Some(Self {
            begin,
            count,
            levels,
            bytes,
        })
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        let at = index.checked_mul(ENTRY)?.checked_add(self.begin + HEADER)?;
        let entry = self.bytes.get(at..at.checked_add(ENTRY)?)?;
        let low = u32_at(entry, 16)?;
        let high = u32_at(entry, 20)?;
        Some(Entry {
            flags: u32_at(entry, 0)?,
            name: u32_at(entry, 4)? as usize,
            path: u32_at(entry, 8)? as usize,
            hardware: u64::from(high) << 32 | u64::from(low),
        })
    }

    fn text(&self, at: usize) -> Option<&[u8]> {
        until_nul(self.bytes.get(self.begin.checked_add(at)?..)?)
    }

    /// Where a library is, for a processor; none when the cache does not know it.
    #[must_use]
    pub fn find(&self, name: &str, machine: Machine, hardware: &Hardware) -> Option<String> {
        let (mut left, mut right) = (0, self.count);
        let compared = |index: usize| {
            let entry = self.entry(index)?;
            Some(order(name.as_bytes(), self.text(entry.name)?))
        };
        // Sorted downwards, so a greater name stands before.
        let mut middle = loop {
            if left >= right {
                return None;
            }
            let middle = left.midpoint(right);
            match compared(middle)? {
                Ordering::Equal => break middle,
                Ordering::Less => left = middle + 1,
                Ordering::Greater => right = middle,
            }
        };
        while middle > 0 && compared(middle - 1) == Some(Ordering::Equal) {
            middle -= 1;
        }
        let mut best: Option<(usize, usize)> = None;
        for index in middle..self.count {
            let entry = self.entry(index)?;
            if index > middle && compared(index) != Some(Ordering::Equal) {
                break;
            }
            if entry.flags != flags(machine) || self.text(entry.path).is_none() {
                continue;
            }
            let high = u32::try_from(entry.hardware >> 32).unwrap_or(u32::MAX);
            if high & !LEVEL_MASK == LEVELLED {
                if let Some(rank) = self.rank(entry.hardware, high & LEVEL_MASK, machine, hardware)
                    && best.is_none_or(|(_, other)| rank < other)
                {
                    best = Some((entry.path, rank));
                }
                continue;
            }
            // Entries for levels come first, so a plain one ends the search.
            if best.is_some() {
                break;
            }
            if suits(entry.hardware, hardware) {
                best = Some((entry.path, usize::MAX));
                break;
            }
        }
        self.text(best?.0).map(lossy)
    }

    /// How good an entry for a level is, 0 the best; none when this processor does not reach it.
    fn rank(&self, field: u64, level: u32, machine: Machine, hardware: &Hardware) -> Option<usize> {
        let name = self.levels.get((field & 0xffff_ffff) as usize)?;
        let name = until_nul(self.bytes.get(*name..)?)?;
        // What the file says of itself: level 0 is every processor's.
        let asked = format!("x86-64-v{}", level + 1);
        if machine == Machine::X86_64 && level > 0 && !hardware.levels.contains(&asked) {
            return None;
        }
        hardware.levels.iter().position(|known| known.as_bytes() == name)
    }
}

/// The older scheme: every feature that an entry asks for must be there, and its platform must be this one.
fn suits(field: u64, hardware: &Hardware) -> bool {
    /// Four platforms from bit 48 on, and the bit for thread-local storage, which is everywhere.
    const PLATFORMS: u64 = 0xf << 48;
    const TLS: u64 = 1 << 63;
    let features = field & !(PLATFORMS | TLS);
    let platform = field & PLATFORMS;
    features & !hardware.features == 0
        && (platform == 0
            || hardware
                .platform_bit
                .is_some_and(|bit| platform == 1_u64.checked_shl(bit).unwrap_or(0)))
}

/// The flags of libraries for the C library 6 and this processor.
const fn flags(machine: Machine) -> u32 {
    match machine {
        Machine::X86_64 => 0x0303,
        Machine::Aarch64 => 0x0a03,
    }
}

/// The extension behind the texts: a magic number, a count, and sections of tag, flags, place, size. Tag 1 is a list of
/// places of names.
fn levels(bytes: &[u8], extension: usize) -> Option<Vec<usize>> {
    const EXTENSION_MAGIC: u32 = 0xeaa4_2174;
    const SECTION: usize = 16;
    if extension == 0 || u32_at(bytes, extension)? != EXTENSION_MAGIC {
        return None;
    }
    let count = u32_at(bytes, extension.checked_add(4)?)? as usize;
    let sections = bytes.get(extension.checked_add(8)?..)?;
    sections
        .chunks_exact(SECTION)
        .take(count)
        .find(|section| u32_at(section, 0) == Some(1))
        .and_then(|section| {
            let begin = u32_at(section, 8)? as usize;
            let size = u32_at(section, 12)? as usize;
            let list = bytes.get(begin..)?.get(..size)?;
            Some(
                list.chunks_exact(4)
                    .filter_map(|place| u32_at(place, 0))
                    .map(|place| place as usize)
                    .collect(),
            )
        })
}

/// The order of names: as text, but numbers in them as numbers, so that `libx.so.10` is more than `libx.so.9`.
fn order(left: &[u8], right: &[u8]) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        match (left.split_first(), right.split_first()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some((a, _)), other) if a.is_ascii_digit() => {
                if !other.is_some_and(|(b, _)| b.is_ascii_digit()) {
                    return Ordering::Greater;
                }
                let (first, second) = (number(&mut left), number(&mut right));
                if first != second {
                    return first.cmp(&second);
                }
            }
            (Some(_), Some((b, _))) if b.is_ascii_digit() => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((a, rest)), Some((b, others))) => {
                if a != b {
                    return a.cmp(b);
                }
                (left, right) = (rest, others);
            }
        }
    }
}

/// The number at the beginning of a text, which it takes away. One that is too large wraps, as it does in the loader.
fn number(text: &mut &[u8]) -> i32 {
    let mut value = 0_i32;
    while let Some((digit, rest)) = text.split_first().filter(|(digit, _)| digit.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
        *text = rest;
    }
    value
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(word))
}

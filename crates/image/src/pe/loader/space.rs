//! An address space: which ranges are taken, and where there is room. Multiples of 64 KiB, as Windows hands them out.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::GRANULARITY;

/// The first 64 KiB are never handed out, so that null pointers stay invalid.
const FIRST: u64 = GRANULARITY;

/// The addresses that images of a width can have.
#[must_use]
pub const fn user(wide: bool) -> Range<u64> {
    if wide {
        FIRST..0x7fff_ffff_0000
    } else {
        FIRST..0x7fff_0000
    }
}

/// Taken ranges, by their starts; they do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    taken: BTreeMap<u64, u64>,
}

impl Space {
    /// A space with some ranges taken; these may overlap.
    #[must_use]
    pub fn with(occupied: &[Range<u64>]) -> Self {
        let mut space = Self::default();
        let mut ranges: Vec<_> = occupied.iter().map(|range| rounded(range.clone())).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        for range in ranges {
            match space.taken.last_entry() {
                Some(mut last) if *last.get() >= range.start => {
                    let end = range.end.max(*last.get());
                    last.insert(end);
                }
                _ => {
                    space.taken.insert(range.start, range.end);
                }
            }
        }
        space
    }

    /// Whether a range is free.
    #[must_use]
    pub fn is_free(&self, range: &Range<u64>) -> bool {
        self.taken
            .range(..range.end)
            .next_back()
            .is_none_or(|(_, &end)| end <= range.start)
    }

    /// Takes `size` bytes at `base`, if they are free, lie within `limits`, and begin at a multiple of 64 KiB.
    pub fn take(&mut self, base: u64, size: u64, limits: &Range<u64>) -> bool {
        let Some(end) = base.checked_add(size) else {
            return false;
        };
        let range = rounded(base..end);
        let fits = base.is_multiple_of(GRANULARITY) && range.start >= limits.start && range.end <= limits.end;
        if !fits || !self.is_free(&range) {
            return false;
        }
        self.taken.insert(range.start, range.end);
        true
    }

    /// Takes the lowest room for `size` bytes within `limits`.
    pub fn lowest(&mut self, size: u64, limits: &Range<u64>) -> Option<u64> {
        let mut base = limits.start.checked_next_multiple_of(GRANULARITY)?;
        loop {
            let range = rounded(base..base.checked_add(size)?);
            if range.end > limits.end {
                return None;
            }
            match self.taken.range(..range.end).next_back() {
                Some((_, &end)) if end > range.start => {
                    // Between here and there may be smaller gaps in front of other ranges, all of which are too small or taken.
                    base = self.next_gap(base)?.max(base.checked_add(GRANULARITY)?);
                }
                _ => {
                    self.taken.insert(range.start, range.end);
                    return Some(base);
                }
            }
        }
    }

    /// The end of the first range that ends behind `base`.
    fn next_gap(&self, base: u64) -> Option<u64> {
        let before = self.taken.range(..=base).next_back().map(|(_, &end)| end);
        match before {
            Some(end) if end > base => Some(end),
            _ => self.taken.range(base..).next().map(|(_, &end)| end),
        }
    }

    /// Takes the highest room for `size` bytes within `limits`.
    pub fn highest(&mut self, size: u64, limits: &Range<u64>) -> Option<u64> {
        let size = size.checked_next_multiple_of(GRANULARITY)?;
        let mut end = limits.end / GRANULARITY * GRANULARITY;
        loop {
            let base = end.checked_sub(size)?;
            if base < limits.start {
                return None;
            }
            match self.taken.range(..end).next_back() {
                Some((&start, &taken)) if taken > base => end = start,
                _ => {
                    self.taken.insert(base, end);
                    return Some(base);
                }
            }
        }
    }
}

/// The range in whole multiples of 64 KiB.
fn rounded(range: Range<u64>) -> Range<u64> {
    let end = range
        .end
        .checked_next_multiple_of(GRANULARITY)
        .unwrap_or(u64::MAX);
    range.start / GRANULARITY * GRANULARITY..end
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Range<u64> = 0x1_0000..0x100_0000;

    #[test]
    fn ranges_are_taken_once_and_in_whole_units() {
        let mut space = Space::default();
        assert!(space.take(0x2_0000, 1, &ALL));
        assert!(!space.take(0x2_0000, 1, &ALL));
        assert!(!space.take(0x2_8000, 1, &ALL), "no multiple of 64 KiB");
        assert!(space.take(0x3_0000, 0x1_0001, &ALL));
        assert!(!space.take(0x4_0000, 1, &ALL), "the second unit is taken too");
        assert!(!space.take(0, 1, &ALL));
        assert!(!space.take(0xff_0000, 0x1_0001, &ALL), "beyond the end");
        assert!(!space.take(u64::MAX - 0xffff, 0x1_0000, &(0..u64::MAX)));
    }

    #[test]
    fn the_lowest_and_the_highest_room_are_found() {
        let mut space = Space::with(&[0x1_0000..0x2_0000, 0x3_0000..0x5_0000, 0x3_8000..0x6_0000]);
        assert_eq!(space.lowest(0x2_0000, &ALL), Some(0x6_0000));
        assert_eq!(space.lowest(0x1_0000, &ALL), Some(0x2_0000));
        assert_eq!(space.lowest(0x1_0000, &ALL), Some(0x8_0000));
        assert_eq!(space.highest(0x1_0001, &ALL), Some(0xfe_0000));
        assert_eq!(space.highest(0x1_0000, &ALL), Some(0xfd_0000));
        assert_eq!(space.lowest(0x100_0000, &ALL), None);
        assert_eq!(space.highest(0x100_0000, &ALL), None);
    }
}

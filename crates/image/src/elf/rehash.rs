//! What a library's lookups would cost with the newer hash table, for libraries that have only the older one.
//!
//! The table is made in memory as a linker would make it, filter included. A linker also sorts the symbols, so that an entry
//! of a chain is the symbol of the same number; here the symbols stay, and a list leads from the one to the other. It is
//! looked at only when a hash agrees.

use object::elf;

use super::symbols::Symbols;

/// The made table.
#[derive(Debug)]
pub(super) struct Rehashed {
    filter: Vec<u64>,
    /// Where a chain begins, counted from 1; 0 for none.
    buckets: Vec<u32>,
    /// Hashes; the lowest bit ends a chain.
    chains: Vec<u32>,
    /// The symbol of each entry.
    symbols: Vec<u32>,
}

/// The second bit of the filter comes from the hash shifted by so much, as GNU ld chooses for tables of common size.
const SHIFT: u32 = 8;

impl Rehashed {
    pub(super) fn of(symbols: &Symbols<'_>) -> Self {
        let mut entries: Vec<(u32, u32)> = (1..symbols.count())
            .filter_map(|index| symbols.get(index))
            .filter(|symbol| symbol.is_export())
            .map(|symbol| (elf::gnu_hash(symbol.name), symbol.index))
            .collect();
        let count = u32::try_from((entries.len() / 2).max(1)).unwrap_or(u32::MAX);
        let words = (entries.len() / 8 + 1).next_power_of_two();
        entries.sort_by_key(|(hash, _)| hash % count);
        let mut table = Self {
            filter: vec![0; words],
            buckets: vec![0; count as usize],
            chains: Vec::with_capacity(entries.len()),
            symbols: Vec::with_capacity(entries.len()),
        };
        for (place, &(hash, symbol)) in (1..).zip(&entries) {
            if let Some(word) = table.filter.get_mut((hash as usize / 64) & (words - 1)) {
                *word |= 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64);
            }
            let bucket = hash % count;
            if let Some(first) = table
                .buckets
                .get_mut(bucket as usize)
                .filter(|first| **first == 0)
            {
                *first = place;
            }
            let ends = entries
                .get(place as usize)
                .is_none_or(|(next, _)| next % count != bucket);
            table.chains.push(hash & !1 | u32::from(ends));
            table.symbols.push(symbol);
        }
        table
    }

    /// The entries of the chain that a hash leads to, each with its symbol where the hash agrees; none when the filter rules
    /// it out.
    pub(super) fn candidates(&self, hash: u32) -> Option<impl Iterator<Item = Option<u32>>> {
        let word = self
            .filter
            .get((hash as usize / 64) & self.filter.len().wrapping_sub(1))?;
        if (word >> (hash % 64)) & (word >> ((hash >> SHIFT) % 64)) & 1 == 0 {
            return None;
        }
        let count = u32::try_from(self.buckets.len()).ok()?;
        let begin = self.buckets.get((hash % count) as usize)?;
        let first = (*begin as usize).wrapping_sub(1);
        let chain = self.chains.get(first..).unwrap_or_default();
        let length = chain
            .iter()
            .position(|entry| entry & 1 == 1)
            .map_or(0, |last| last + 1);
        let symbols = self.symbols.get(first..).unwrap_or_default();
        Some(
            chain
                .iter()
                .zip(symbols)
                .take(length)
                .map(move |(entry, symbol)| ((entry ^ hash) >> 1 == 0).then_some(*symbol)),
        )
    }
}

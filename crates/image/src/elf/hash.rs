//! Hash tables of symbols, by which the loader finds a name in a library without comparing it with every other.
//!
//! The older style (`DT_HASH`, sysv) leads to a chain of symbols, each of whose names is compared. The newer one
//! (`DT_GNU_HASH`) first asks a bloom filter, two bits of one word, which mostly tells at once that the name is not here; its
//! chains hold hashes, so that a name is compared only where the hash agrees. The loader prefers the newer one.

use std::cell::OnceCell;
use std::rc::Rc;

use object::LittleEndian as LE;
use object::elf;
use object::pod;

use super::rehash::Rehashed;
use super::{Budget, Image, Unreadable};

type Words<'a> = &'a [object::U32<LE>];

/// The table that the loader uses.
#[derive(Clone, Debug)]
pub(super) enum Table<'a> {
    Gnu {
        buckets: Words<'a>,
        filter: &'a [object::U64<LE>],
        shift: u32,
        /// The first symbol that has a place in the table.
        first: u32,
        /// For each symbol from `first` on its hash; the lowest bit ends a chain.
        chains: Words<'a>,
    },
    Sysv {
        buckets: Words<'a>,
        chains: Words<'a>,
    },
    /// One of the newer style that the file does not have.
    Rehashed(Rc<Rehashed>),
    /// None, or one without buckets: nothing can be found here.
    Empty,
}

/// A name with its hashes, each made at most once a lookup.
#[derive(Clone, Debug)]
pub(super) struct Name<'a> {
    pub(super) bytes: &'a [u8],
    gnu: u32,
    /// Made only when a library asks for it, as the loader does.
    sysv: OnceCell<u32>,
}

impl<'a> Name<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            gnu: elf::gnu_hash(bytes),
            sysv: OnceCell::new(),
        }
    }

    fn sysv(&self) -> u32 {
        *self.sysv.get_or_init(|| elf::hash(self.bytes))
    }
}

/// Steps of a search in one table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// The filter said no.
    pub(super) rejected: bool,
    /// Entries of chains that were looked at.
    pub(super) chain: u64,
}

impl<'a> Table<'a> {
    pub(super) fn read(image: &Image<'a>) -> Result<Self, Unreadable> {
        if let Some(address) = image.dynamic.gnu_hash {
            return Self::gnu(image.at(address));
        }
        match image.dynamic.hash {
            Some(address) => Self::sysv(image.at(address)),
            None => Ok(Self::Empty),
        }
    }

    fn gnu(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        const DAMAGED: Unreadable = Unreadable::Damaged("its hash table leads out of its segment");
        let (header, rest) = pod::from_bytes::<[object::U32<LE>; 4]>(bytes).map_err(|()| DAMAGED)?;
        let [buckets, first, filter, shift] = header.map(|word| word.get(LE));
        if buckets == 0 {
            return Ok(Self::Empty);
        }
        if !filter.is_power_of_two() {
            return Err(Unreadable::Damaged("its bloom filter is no power of 2 long"));
        }
        let (filter, rest) = pod::slice_from_bytes(rest, filter as usize).map_err(|()| DAMAGED)?;
        let (buckets, rest) = pod::slice_from_bytes(rest, buckets as usize).map_err(|()| DAMAGED)?;
        let (chains, _) = pod::slice_from_bytes(rest, rest.len() / 4).map_err(|()| DAMAGED)?;
        Ok(Self::Gnu {
            buckets,
            filter,
            shift,
            first,
            chains,
        })
    }

    fn sysv(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        const DAMAGED: Unreadable = Unreadable::Damaged("its hash table leads out of its segment");
        let (header, rest) = pod::from_bytes::<[object::U32<LE>; 2]>(bytes).map_err(|()| DAMAGED)?;
        let [buckets, chains] = header.map(|word| word.get(LE));
        if buckets == 0 {
            return Ok(Self::Empty);
        }
        let (buckets, rest) = pod::slice_from_bytes(rest, buckets as usize).map_err(|()| DAMAGED)?;
        let (chains, _) = pod::slice_from_bytes(rest, chains as usize).map_err(|()| DAMAGED)?;
        Ok(Self::Sysv { buckets, chains })
    }

    /// Calls `accept` with each symbol that may have the name, until it says yes; true when it did.
    ///
    /// # Errors
    /// When the chains go in circles.
    pub(super) fn search(
        &self,
        name: &Name<'_>,
        steps: &mut Steps,
        budget: &mut Budget,
        mut accept: impl FnMut(u32, &mut Budget) -> Result<bool, Unreadable>,
    ) -> Result<bool, Unreadable> {
        match self {
            Self::Empty => Ok(false),
            Self::Rehashed(table) => {
                let Some(candidates) = table.candidates(name.gnu) else {
                    steps.rejected = true;
                    return Ok(false);
                };
                for candidate in candidates {
                    steps.chain += 1;
                    budget.spend(1)?;
                    if let Some(symbol) = candidate
                        && accept(symbol, budget)?
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Gnu {
                buckets,
                filter,
                shift,
                first,
                chains,
            } => {
                let hash = name.gnu;
                let word = filter
                    .get((hash as usize / 64) & filter.len().wrapping_sub(1))
                    .map_or(0, |word| word.get(LE));
                // The second bit comes from the hash shifted; a shift of all bits leaves none.
                let second = hash.checked_shr(*shift).unwrap_or(0);
                if (word >> (hash % 64)) & (word >> (second % 64)) & 1 == 0 {
                    steps.rejected = true;
                    return Ok(false);
                }
                let Some(mut symbol) = at(buckets, hash % length(buckets)).filter(|&bucket| bucket != 0)
                else {
                    return Ok(false);
                };
                while let Some(entry) = symbol.checked_sub(*first).and_then(|index| at(chains, index)) {
                    steps.chain += 1;
                    budget.spend(1)?;
                    if (entry ^ hash) >> 1 == 0 && accept(symbol, budget)? {
                        return Ok(true);
                    }
                    if entry & 1 == 1 {
                        break;
                    }
                    symbol = symbol.wrapping_add(1);
                }
                Ok(false)
            }
            Self::Sysv { buckets, chains } => {
                let mut symbol = at(buckets, name.sysv() % length(buckets)).unwrap_or(0);
                while symbol != 0 {
                    steps.chain += 1;
                    budget.spend(1)?;
                    if accept(symbol, budget)? {
                        return Ok(true);
                    }
                    symbol = at(chains, symbol).unwrap_or(0);
                }
                Ok(false)
            }
        }
    }

    /// How many symbols there are, as far as this table tells: one more than the last that it leads to.
    pub(super) fn symbols(&self) -> u32 {
        match self {
            Self::Empty | Self::Rehashed(_) => 0,
            Self::Sysv { chains, .. } => length(chains),
            Self::Gnu {
                buckets,
                first,
                chains,
                ..
            } => {
                let Some(last) = buckets
                    .iter()
                    .map(|bucket| bucket.get(LE))
                    .max()
                    .filter(|&last| last != 0)
                else {
                    return 0;
                };
                let begin = last.saturating_sub(*first);
                let rest = chains.get(begin as usize..).unwrap_or_default();
                let more = rest.iter().take_while(|entry| entry.get(LE) & 1 == 0).count();
                last.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
                    .saturating_add(1)
            }
        }
    }
}

fn at(words: Words<'_>, index: u32) -> Option<u32> {
    words.get(index as usize).map(|word| word.get(LE))
}

fn length(words: Words<'_>) -> u32 {
    u32::try_from(words.len()).unwrap_or(u32::MAX)
}

//! From an import to an address: search, forwarders, and the system's libraries.

use super::super::exports::{Search, Target, forwarded};
use super::super::imports::Symbol;
use super::plan::library_key;
use super::walk::{Loading, Place};
use super::{Counts, Refused};

/// What finding one address took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    names: u32,
    comparisons: u32,
    hint_hits: u32,
    ordinals: u32,
    forwarded: u32,
    system: u32,
}

impl Cost {
    pub(super) fn add_to(self, counts: &mut Counts) {
        counts.names += u64::from(self.names);
        counts.comparisons += u64::from(self.comparisons);
        counts.hint_hits += u64::from(self.hint_hits);
        counts.ordinals += u64::from(self.ordinals);
        counts.forwarded += u64::from(self.forwarded);
        counts.system += u64::from(self.system);
    }
}

/// So many forwarders in a row are a circle.
const LONGEST_CHAIN: usize = 32;

/// What came of it.
pub(super) enum Resolved {
    /// An address, with what finding it cost.
    Address(u64, Cost),
    /// A file must be mapped first.
    Wants(usize),
}

impl Loading<'_, '_> {
    /// The address of `symbol` of the library at `place`, for the importer `file`.
    pub(super) fn resolve(&self, file: usize, place: Place, symbol: Symbol<'_>) -> Result<Resolved, Refused> {
        let mut cost = Cost::default();
        let (mut place, mut symbol) = (place, symbol);
        let mut hint = match symbol {
            Symbol::Name { hint, .. } if self.plan.options.hints => Some(hint),
            _ => None,
        };
        for _ in 0..LONGEST_CHAIN {
            let index = match place {
                Place::Mapped(index) => index,
                Place::NotMapped(file) => return Ok(Resolved::Wants(file)),
                Place::System(hash) => {
                    cost.system += 1;
                    return Ok(Resolved::Address(of_system(hash, symbol, self.wide), cost));
                }
            };
            let Some(module) = self.modules.get(index) else {
                return Ok(Resolved::Wants(index));
            };
            let library = || self.plan.name(module.file).to_owned();
            let unreadable = self.plan.unreadable(module.file);
            let missing = || Refused::NotExported {
                file: self.plan.name(file).to_owned(),
                symbol: symbol.to_string(),
                library: library(),
            };
            let table = module.exports.ok_or_else(missing)?;
            let image = module.image.as_slice();
            let found = match symbol {
                Symbol::Name { name, .. } => {
                    let mut search = Search::default();
                    let found = table.search(image, name, hint, &mut search).map_err(unreadable)?;
                    cost.names += 1;
                    cost.comparisons += search.comparisons;
                    cost.hint_hits += search.hint_hits;
                    found.ok_or_else(missing)?
                }
                Symbol::Ordinal(ordinal) => {
                    cost.ordinals += 1;
                    table.index_of(ordinal)
                }
            };
            match table
                .target(image, found)
                .map_err(unreadable)?
                .ok_or_else(missing)?
            {
                Target::Address(rva) => {
                    let address = module.base.wrapping_add(rva.into());
                    return Ok(Resolved::Address(address, cost));
                }
                Target::Forwarder(text) => {
                    cost.forwarded += 1;
                    let (next, name) = forwarded(text).ok_or_else(|| Refused::Forwarder {
                        symbol: symbol.to_string(),
                        library: library(),
                    })?;
                    place = self.find(next);
                    symbol = name;
                    hint = None;
                }
            }
        }
        Err(Refused::Forwarder {
            symbol: symbol.to_string(),
            library: self.plan.name(file).to_owned(),
        })
    }
}

/// The hash of a library's name, in any spelling.
pub(super) fn hash_of_library(name: &[u8]) -> u64 {
    mix(0xcbf2_9ce4_8422_2325, &library_key(name))
}

/// The address of a symbol of a library that is not in the set: in the upper half of the address space, which belongs to the system.
pub(super) fn of_system(library: u64, symbol: Symbol<'_>, wide: bool) -> u64 {
    let hash = match symbol {
        Symbol::Name { name, .. } => mix(library, name),
        Symbol::Ordinal(ordinal) => mix(library, &ordinal.to_le_bytes()),
    };
    if wide {
        0xffff_8000_0000_0000 | (hash & 0x7fff_ffff_fff0)
    } else {
        0x8000_0000 | (hash & 0x7fff_fff0)
    }
}

/// FNV-1a.
fn mix(start: u64, text: &[u8]) -> u64 {
    text.iter().fold(start, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

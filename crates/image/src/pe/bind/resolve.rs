//! The addresses that a library's exports will have, and on which libraries they depend.

use std::collections::HashMap;

use super::super::exports::{Search, Table, Target, forwarded};
use super::super::imports::{Import, Symbol};
use super::super::loader::library_key;
use super::super::{Budget, File};
use super::{Reason, Refused, unreadable};

/// So many forwarders in a row are a circle.
const LONGEST_CHAIN: usize = 32;

/// Files that are bound to each other.
#[derive(Default)]
pub(super) struct Set<'a> {
    files: Vec<(&'a str, File<'a>, Option<Table>)>,
    by_name: HashMap<Vec<u8>, usize>,
}

/// What can be said of the imports from one library.
pub(super) enum Outcome {
    /// The addresses, in the order of the slots.
    Addresses {
        addresses: Vec<u64>,
        /// The library's stamp.
        stamp: u32,
        /// Libraries that some of the exports are forwarded to, with their stamps.
        forwarders: Vec<(Vec<u8>, u32)>,
    },
    /// They stay unbound.
    Left(Reason),
}

impl<'a> Set<'a> {
    pub(super) fn add(&mut self, name: &'a str, file: File<'a>) -> Result<(), Refused> {
        // Also finds damage that a search would only meet by chance.
        file.exports().map_err(|why| unreadable(name, why))?;
        let table = Table::find(&file, &file.headers).map_err(|why| unreadable(name, why))?;
        if self
            .by_name
            .insert(library_key(name.as_bytes()), self.files.len())
            .is_some()
        {
            return Err(Refused::Twice(name.to_owned()));
        }
        self.files.push((name, file, table));
        Ok(())
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&'a str, &File<'a>)> {
        self.files.iter().map(|(name, file, _)| (*name, file))
    }

    fn find(&self, library: &[u8]) -> Option<&(&'a str, File<'a>, Option<Table>)> {
        self.files.get(*self.by_name.get(&library_key(library))?)
    }

    /// The addresses of all that `importer` imports from one library.
    pub(super) fn addresses(&self, importer: &str, import: &Import<'_>) -> Result<Outcome, Refused> {
        let Some((_, library, _)) = self.find(import.library) else {
            return Ok(Outcome::Left(Reason::Outside));
        };
        if import.descriptor.lookup == 0 {
            return Ok(Outcome::Left(Reason::NoNames));
        }
        let stamp = library.headers.stamp;
        let mut forwarders: Vec<(Vec<u8>, u32)> = Vec::new();
        let mut addresses = Vec::with_capacity(import.symbols.len());
        let mut no_stamp = stamp == 0;
        let mut budget = Budget::of(self.files.iter().map(|(_, file, _)| file.bytes.len()).sum());
        for &symbol in &import.symbols {
            let mut used = |library: &[u8], stamp: u32| {
                no_stamp |= stamp == 0;
                if !forwarders.iter().any(|(name, _)| name == library) {
                    forwarders.push((library.to_vec(), stamp));
                }
            };
            let spend = budget.spend(1);
            spend.map_err(|why| unreadable(importer, why))?;
            match self.address(importer, import.library, symbol, &mut used)? {
                Some(address) => addresses.push(address),
                None => return Ok(Outcome::Left(Reason::ForwardsOutside)),
            }
        }
        if no_stamp {
            return Ok(Outcome::Left(Reason::NoStamp));
        }
        Ok(Outcome::Addresses {
            addresses,
            stamp,
            forwarders,
        })
    }

    /// The address of one export; `None` when it is forwarded to a library outside. Tells `used` each library on the way.
    fn address(
        &self,
        importer: &str,
        library: &[u8],
        symbol: Symbol<'_>,
        used: &mut impl FnMut(&[u8], u32),
    ) -> Result<Option<u64>, Refused> {
        let missing = || Refused::NotExported {
            file: importer.to_owned(),
            symbol: symbol.to_string(),
            library: String::from_utf8_lossy(library).into_owned(),
        };
        let mut found = self.find(library);
        let mut wanted = symbol;
        for _ in 0..LONGEST_CHAIN {
            let Some((name, file, table)) = found else {
                return Ok(None);
            };
            let damaged = |why| unreadable(name, why);
            let table = table.as_ref().ok_or_else(missing)?;
            let index = match wanted {
                Symbol::Name { name, hint } => table
                    .search(file, name, Some(hint), &mut Search::default())
                    .map_err(damaged)?
                    .ok_or_else(missing)?,
                Symbol::Ordinal(ordinal) => table.index_of(ordinal),
            };
            match table.target(file, index).map_err(damaged)?.ok_or_else(missing)? {
                Target::Address(rva) => return Ok(Some(file.headers.base.wrapping_add(rva.into()))),
                Target::Forwarder(text) => {
                    let (next, name) = forwarded(text).ok_or_else(missing)?;
                    found = self.find(next);
                    if let Some((name, file, _)) = found {
                        used(name.as_bytes(), file.headers.stamp);
                    }
                    wanted = name;
                }
            }
        }
        Err(missing())
    }
}

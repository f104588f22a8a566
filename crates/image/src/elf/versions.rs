//! Symbol versions: `memcpy@GLIBC_2.14` and `memcpy@GLIBC_2.2.5` are two functions of one library.
//!
//! Each symbol has a number (`DT_VERSYM`). The numbers are explained by the versions that the file defines (`DT_VERDEF`)
//! and by those that it requires of others (`DT_VERNEED`). 0 is a local symbol, 1 one without version.

use object::LittleEndian as LE;
use object::elf::{self, Verdaux, Verdef, Vernaux, Verneed};
use object::pod::{self, Pod};

use super::view::until_nul;
use super::{Budget, Image, Unreadable};

/// A version that a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The hash of its name, which is compared first.
    pub hash: u32,
    /// A reference that is satisfied by exactly this version only.
    pub hidden: bool,
    /// The library that must define it, for a version that is required.
    pub file: Option<&'a [u8]>,
    /// Whether a required version may be missing.
    pub weak: bool,
}

/// The versions of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions<'a> {
    /// A number for each symbol.
    numbers: Option<&'a [object::U16<LE>]>,
    table: Vec<Option<Version<'a>>>,
}

/// The bit of a number that says: not for those who ask for no version.
const HIDDEN: u16 = elf::VERSYM_HIDDEN.0;

impl<'a> Versions<'a> {
    pub(super) fn read(image: &Image<'a>, budget: &mut Budget) -> Result<Self, Unreadable> {
        let mut versions = Self {
            numbers: image.dynamic.versions.map(|address| {
                let bytes = image.at(address);
                pod::slice_from_bytes(bytes, bytes.len() / 2).map_or(&[][..], |(numbers, _)| numbers)
            }),
            table: Vec::new(),
        };
        versions.required(image, budget)?;
        versions.defined(image, budget)?;
        Ok(versions)
    }

    fn required(&mut self, image: &Image<'a>, budget: &mut Budget) -> Result<(), Unreadable> {
        let (address, count) = image.dynamic.required;
        let mut entry_at = image.at(address);
        for _ in 0..count {
            budget.spend(1)?;
            let Some(entry) = first::<Verneed<LE>>(entry_at) else {
                break;
            };
            let file = text(image, entry.vn_file.get(LE), budget)?;
            let mut version_at = behind(entry_at, entry.vn_aux.get(LE));
            for _ in 0..entry.vn_cnt.get(LE) {
                budget.spend(1)?;
                let Some(version) = first::<Vernaux<LE>>(version_at) else {
                    break;
                };
                let number = version.vna_other.get(LE).0;
                let version_is = Version {
                    name: text(image, version.vna_name.get(LE), budget)?,
                    hash: version.vna_hash.get(LE),
                    hidden: number & HIDDEN != 0,
                    file: Some(file),
                    weak: version.vna_flags.get(LE).0 & elf::VER_FLG_WEAK.0 != 0,
                };
                self.enter(number, version_is);
                version_at = behind(version_at, version.vna_next.get(LE));
                if version.vna_next.get(LE) == 0 {
                    break;
                }
            }
            entry_at = behind(entry_at, entry.vn_next.get(LE));
            if entry.vn_next.get(LE) == 0 {
                break;
            }
        }
        Ok(())
    }

    fn defined(&mut self, image: &Image<'a>, budget: &mut Budget) -> Result<(), Unreadable> {
        let (address, count) = image.dynamic.defined;
        let mut entry_at = image.at(address);
        for _ in 0..count {
            budget.spend(1)?;
            let Some(entry) = first::<Verdef<LE>>(entry_at) else {
                break;
            };
            // The base version is the file's own name and no version of any symbol.
            if entry.vd_flags.get(LE).0 & elf::VER_FLG_BASE.0 == 0
                && let Some(name) = first::<Verdaux<LE>>(behind(entry_at, entry.vd_aux.get(LE)))
            {
                let version = Version {
                    name: text(image, name.vda_name.get(LE), budget)?,
                    hash: entry.vd_hash.get(LE),
                    hidden: false,
                    file: None,
                    weak: false,
                };
                self.enter(entry.vd_ndx.get(LE).0, version);
            }
            entry_at = behind(entry_at, entry.vd_next.get(LE));
            if entry.vd_next.get(LE) == 0 {
                break;
            }
        }
        Ok(())
    }

    fn enter(&mut self, number: u16, version: Version<'a>) {
        let index = usize::from(number & !HIDDEN);
        if self.table.len() <= index {
            self.table.resize(index + 1, None);
        }
        if let Some(place) = self.table.get_mut(index) {
            *place = Some(version);
        }
    }

    /// The versions that are required, each with the library that must define it.
    pub(super) fn required_of_others(&self) -> impl Iterator<Item = (Version<'a>, &'a [u8])> {
        self.table
            .iter()
            .flatten()
            .filter_map(|version| Some((*version, version.file?)))
    }

    /// Whether the file defines a version.
    pub(super) fn define(&self, wanted: &Version<'_>) -> bool {
        let mut own = self
            .table
            .iter()
            .flatten()
            .filter(|version| version.file.is_none());
        own.any(|version| version.hash == wanted.hash && version.name == wanted.name)
    }

    /// Whether the file defines or requires a version of this name.
    pub(super) fn are_any(&self, name: &[u8]) -> bool {
        self.table.iter().flatten().any(|version| version.name == name)
    }

    /// Whether the file has versions at all.
    pub(super) const fn exist(&self) -> bool {
        self.numbers.is_some()
    }

    /// The number of a symbol without the hidden bit, and the bit. A symbol behind the table has number 0.
    pub(super) fn number(&self, symbol: u32) -> (u16, bool) {
        let number = self
            .numbers
            .and_then(|numbers| numbers.get(symbol as usize))
            .map_or(0, |number| number.get(LE));
        (number & !HIDDEN, number & HIDDEN != 0)
    }

    /// The version of a symbol; none for local and unversioned ones.
    pub(super) fn of(&self, symbol: u32) -> Option<Version<'a>> {
        self.table.get(usize::from(self.number(symbol).0)).copied()?
    }
}

fn first<T: Pod>(bytes: &[u8]) -> Option<&T> {
    pod::from_bytes(bytes).ok().map(|(entry, _)| entry)
}

fn behind(bytes: &[u8], offset: u32) -> &[u8] {
    bytes.get(offset as usize..).unwrap_or_default()
}

fn text<'a>(image: &Image<'a>, offset: u32, budget: &mut Budget) -> Result<&'a [u8], Unreadable> {
    let rest = image.strings().get(offset as usize..).unwrap_or_default();
    let text = until_nul(rest).unwrap_or_default();
    budget.spend(text.len() as u64)?;
    Ok(text)
}

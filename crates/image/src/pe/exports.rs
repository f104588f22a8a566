//! What a library offers: a table of addresses, and beside it a sorted table of names with the numbers of their addresses.
//!
//! By ordinal is an index into the first table. By name is a search in the second; an importer's hint says where the name stood
//! when it was linked, and if it still stands there one comparison is enough. An address that points back into the export
//! directory is no address but a text: the export is forwarded to another library.

use std::cmp::Ordering;

use object::pe;

use super::view::entry;
use super::{Budget, Directory, Headers, Unreadable, View};

const CUT: Unreadable = Unreadable::Damaged("its export table is cut off");

/// Where the parts of an export table lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    directory: Directory,
    /// The RVA of the library's own name.
    pub name: u32,
    /// The number of the first address.
    pub base: u32,
    functions: u32,
    function_count: u32,
    names: u32,
    name_count: u32,
    ordinals: u32,
}

/// What stands in the table of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// An RVA.
    Address(u32),
    /// `LIBRARY.NAME` or `LIBRARY.#ORDINAL`.
    Forwarder(&'a [u8]),
}

/// What searches by name cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Comparisons of names.
    pub comparisons: u32,
    /// Searches that ended with the first comparison, thanks to the hint.
    pub hint_hits: u32,
}

impl Table {
    /// Finds the table of a library; `None` when it exports nothing.
    ///
    /// # Errors
    /// When it is cut off.
    pub fn find<V: View + ?Sized>(view: &V, headers: &Headers) -> Result<Option<Self>, Unreadable> {
        let Some(directory) = headers.directory(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) else {
            return Ok(None);
        };
        let field = |at: u32| {
            directory
                .rva
                .checked_add(at)
                .and_then(|rva| view.u32(rva))
                .ok_or(CUT)
        };
        Ok(Some(Self {
            directory,
            name: field(12)?,
            base: field(16)?,
            function_count: field(20)?,
            name_count: field(24)?,
            functions: field(28)?,
            names: field(32)?,
            ordinals: field(36)?,
        }))
    }

    /// What stands at `index` of the table of addresses; `None` for an empty place or outside.
    ///
    /// # Errors
    /// When a forwarder has no end.
    pub fn target<'a, V: View + ?Sized>(
        &self,
        view: &'a V,
        index: u32,
    ) -> Result<Option<Target<'a>>, Unreadable> {
        if index >= self.function_count {
            return Ok(None);
        }
        let rva = entry(self.functions, index, 4).and_then(|rva| view.u32(rva));
        match rva.ok_or(CUT)? {
            0 => Ok(None),
            rva if rva.wrapping_sub(self.directory.rva) < self.directory.size => {
                view.text(rva).map(|text| Some(Target::Forwarder(text)))
            }
            rva => Ok(Some(Target::Address(rva))),
        }
    }

    /// The index of an ordinal in the table of addresses; it may lie outside.
    #[must_use]
    pub fn index_of(&self, ordinal: u16) -> u32 {
        u32::from(ordinal).wrapping_sub(self.base)
    }

    /// Where name `index` begins.
    fn name_rva<V: View + ?Sized>(&self, view: &V, index: u32) -> Result<u32, Unreadable> {
        entry(self.names, index, 4)
            .and_then(|rva| view.u32(rva))
            .ok_or(CUT)
    }

    /// The index of name `index` in the table of addresses.
    fn index_of_name<V: View + ?Sized>(&self, view: &V, index: u32) -> Result<u32, Unreadable> {
        entry(self.ordinals, index, 2)
            .and_then(|rva| view.u16(rva))
            .map(u32::from)
            .ok_or(CUT)
    }

    /// Searches a name as the loader does: where the hint points, then by halving. Gives its index in the table of addresses.
    ///
    /// # Errors
    /// When the table is cut off.
    pub fn search<V: View + ?Sized>(
        &self,
        view: &V,
        name: &[u8],
        hint: Option<u16>,
        cost: &mut Search,
    ) -> Result<Option<u32>, Unreadable> {
        if let Some(hint) = hint.map(u32::from)
            && hint < self.name_count
        {
            cost.comparisons += 1;
            if compare(name, view.from(self.name_rva(view, hint)?)) == Ordering::Equal {
                cost.hint_hits += 1;
                return self.index_of_name(view, hint).map(Some);
            }
        }
        let (mut low, mut high) = (0, self.name_count);
        while low < high {
            let middle = low + (high - low) / 2;
            cost.comparisons += 1;
            match compare(name, view.from(self.name_rva(view, middle)?)) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return self.index_of_name(view, middle).map(Some),
            }
        }
        Ok(None)
    }
}

/// Compares a name with the text that begins in `there` and ends with a NUL, as `strcmp` does.
fn compare(name: &[u8], there: &[u8]) -> Ordering {
    let common = name.len().min(there.len());
    let (ours, rest) = name.split_at(common);
    let (theirs, after) = there.split_at(common);
    ours.cmp(theirs).then_with(|| match (rest, after) {
        ([_, ..], _) => Ordering::Greater,
        ([], [0, ..]) => Ordering::Equal,
        ([], _) => Ordering::Less,
    })
}

/// Splits a forwarder into the library, as it is written, and the export's name or number.
#[must_use]
pub fn forwarded(text: &[u8]) -> Option<(&[u8], super::imports::Symbol<'_>)> {
    use super::imports::Symbol;
    // The last dot: libraries may have dots in their names, decorated names have none.
    let dot = text.iter().rposition(|&byte| byte == b'.')?;
    let (library, name) = (text.get(..dot)?, text.get(dot + 1..)?);
    let symbol = match name.strip_prefix(b"#") {
        Some(digits) => Symbol::Ordinal(std::str::from_utf8(digits).ok()?.parse().ok()?),
        None => Symbol::Name { hint: 0, name },
    };
    (!library.is_empty() && !name.is_empty()).then_some((library, symbol))
}

/// One export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export<'a> {
    /// Its number.
    pub ordinal: u32,
    /// Its name; `None` when it has only a number (`NONAME`).
    pub name: Option<&'a [u8]>,
    /// Where it is.
    pub target: Target<'a>,
}

/// All exports of a library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List<'a> {
    /// The name that the library gives itself.
    pub library: Option<&'a [u8]>,
    /// One entry a name, in the order of the table of names, then one for each number without name.
    pub exports: Vec<Export<'a>>,
    /// The table of names as it stands: each with the index of its address, which may be an empty place.
    pub names: Vec<(&'a [u8], u32)>,
    /// Numbers that are in use.
    pub numbers: usize,
}

/// Reads the whole table.
///
/// # Errors
/// When it is damaged.
pub fn list<'a, V: View + ?Sized>(
    view: &'a V,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<List<'a>, Unreadable> {
    let Some(table) = Table::find(view, headers)? else {
        return Ok(List::default());
    };
    budget.spend(table.function_count as usize)?;
    budget.spend(table.name_count as usize)?;
    let mut targets = Vec::new();
    for index in 0..table.function_count {
        let target = table.target(view, index)?;
        if let Some(Target::Forwarder(text)) = target {
            budget.spend(text.len())?;
        }
        targets.push((target, false));
    }
    let mut exports = Vec::new();
    let mut names = Vec::new();
    for index in 0..table.name_count {
        let name = view.text(table.name_rva(view, index)?)?;
        budget.spend(name.len())?;
        let at = table.index_of_name(view, index)?;
        names.push((name, at));
        // A name of an empty place exists in some files; nothing can be imported through it.
        if let Some((Some(target), named)) = targets.get_mut(at as usize) {
            *named = true;
            exports.push(Export {
                ordinal: table.base.wrapping_add(at),
                name: Some(name),
                target: *target,
            });
        }
    }
    let mut numbers = 0;
    for (index, (target, named)) in targets.into_iter().enumerate() {
        let Some(target) = target else { continue };
        numbers += 1;
        if !named {
            exports.push(Export {
                ordinal: table.base.wrapping_add(index as u32),
                name: None,
                target,
            });
        }
    }
    Ok(List {
        library: view.text(table.name).ok(),
        exports,
        names,
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::super::imports::Symbol;
    use super::*;

    #[test]
    fn names_are_compared_as_strcmp_does() {
        for (name, there, order) in [
            (&b"abc"[..], &b"abc\0x"[..], Ordering::Equal),
            (b"abc", b"abcd\0", Ordering::Less),
            (b"abcd", b"abc\0z", Ordering::Greater),
            (b"abd", b"abc\0", Ordering::Greater),
            (b"", b"\0", Ordering::Equal),
            (b"abc", b"", Ordering::Greater),
            // Cut off without an end: nothing is equal to it.
            (b"abc", b"abc", Ordering::Less),
        ] {
            assert_eq!(compare(name, there), order, "{name:?} {there:?}");
        }
    }

    #[test]
    fn forwarders_are_split_at_the_last_dot() {
        let named = |name| Symbol::Name { hint: 0, name };
        assert_eq!(
            forwarded(b"NTDLL.RtlAlloc"),
            Some((&b"NTDLL"[..], named(b"RtlAlloc")))
        );
        assert_eq!(forwarded(b"a.b.f"), Some((&b"a.b"[..], named(b"f"))));
        assert_eq!(forwarded(b"x.#17"), Some((&b"x"[..], Symbol::Ordinal(17))));
        for wrong in [&b"nothing"[..], b".f", b"x.", b"x.#", b"x.#70000", b""] {
            assert_eq!(forwarded(wrong), None, "{wrong:?}");
        }
    }
}

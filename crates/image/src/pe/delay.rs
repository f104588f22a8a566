//! Delay-loaded imports: libraries that are loaded when one of their functions is first called.
//!
//! The loader does nothing for them; a stub in the program does, through `LoadLibrary` and `GetProcAddress`. They cost nothing at the
//! start, and are a remedy for imports that a program seldom needs.

use object::pe;

use super::imports::{self, Symbol};
use super::view::entry;
use super::{Budget, Headers, Unreadable, View};

/// Bytes of a descriptor.
const DESCRIPTOR: u32 = 32;
/// The flag of descriptors that hold RVAs. The oldest linkers for 32 bits wrote addresses.
const RELATIVE: u32 = 1;

/// What is imported from one library when it is first needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed<'a> {
    /// The library's name as it is written.
    pub library: &'a [u8],
    /// The stamp of the library that it was bound to; 0 for none.
    pub stamp: u32,
    /// What is imported.
    pub symbols: Vec<Symbol<'a>>,
}

/// Reads the whole table.
///
/// # Errors
/// When it is damaged.
pub fn list<'a, V: View + ?Sized>(
    view: &'a V,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<Vec<Delayed<'a>>, Unreadable> {
    const CUT: Unreadable = Unreadable::Damaged("its table of delayed imports is cut off");
    let mut found = Vec::new();
    let Some(directory) = headers.directory(pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT) else {
        return Ok(found);
    };
    let mut rva = directory.rva;
    loop {
        let field = |at: u32| rva.checked_add(at).and_then(|rva| view.u32(rva)).ok_or(CUT);
        let (attributes, name, list, stamp) = (field(0)?, field(4)?, field(16)?, field(28)?);
        if name == 0 {
            return Ok(found);
        }
        let relative = |address: u32| {
            if attributes & RELATIVE != 0 {
                address
            } else {
                address.wrapping_sub(headers.base as u32)
            }
        };
        let library = view.text(relative(name))?;
        budget.spend(1 + library.len())?;
        let symbols = imports::symbols(view, relative(list), headers.wide, budget)?;
        found.push(Delayed {
            library,
            stamp,
            symbols,
        });
        rva = entry(rva, 1, DESCRIPTOR).ok_or(CUT)?;
    }
}

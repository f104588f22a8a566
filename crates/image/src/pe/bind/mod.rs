//! BIND: fills the slots of imports beforehand, so that the loader looks nothing up.
//!
//! What makes this safe is the directory of bound imports: it has the stamp of each library whose addresses were used, and the loader
//! uses them only when the library still has that stamp and lies at its preferred base. So the rule of the article: **base first, then
//! bind**. Binding to a library that will be moved is a waste, and is refused here.
//!
//! Libraries outside the set (the system's) are left to the loader. They are listed in the directory with stamp 0, which no library
//! has, because the NT loader looks at the directory *instead of* the import table when there is one.

mod directory;
mod resolve;

use std::collections::HashMap;

use object::pe::{IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT, IMAGE_DIRECTORY_ENTRY_IMPORT};

use super::imports::{BOUND, DESCRIPTOR, Import, NO_CHAIN, width};
use super::loader::library_key;
use super::loader::space::{Space, user};
use super::patch::{put, put_word, same_tables, seal, strip_signature};
use super::view::entry;
use super::{File, Unreadable, View};
use directory::Entry;
use resolve::{Outcome, Set};

/// How to bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A signature is taken off; it would not hold any more.
    pub strip_signature: bool,
    /// Libraries with `DYNAMIC_BASE` are bound to as well: for loaders that ignore the flag.
    pub even_dynamic_base: bool,
}

/// A file whose imports are bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its name.
    pub name: String,
    /// Libraries that it was bound to.
    pub libraries: Vec<String>,
    /// Slots that were filled.
    pub slots: u64,
    /// Libraries that it was not bound to, with the reason.
    pub left: Vec<(String, Reason)>,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Why imports from a library stay unbound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The library is not in the set.
    #[error("it is not in the set")]
    Outside,
    /// Some of its exports are forwarded to a library that is not.
    #[error("it forwards to a library that is not in the set")]
    ForwardsOutside,
    /// The importer keeps names only where addresses would go.
    #[error("the importing file keeps no second list of names, so a stale binding could not be undone")]
    NoNames,
    /// The library, or one that it forwards to, has stamp 0.
    #[error("its stamp is 0, which cannot be told from not bound")]
    NoStamp,
    /// It stands in the import table twice.
    #[error("it is imported twice, and the directory can say only one thing about it")]
    Twice,
}

/// Why a set is not bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A file cannot be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: Unreadable,
    },
    /// Two files have one name.
    #[error("{0} is there twice")]
    Twice(String),
    /// A file for another processor or of another width.
    #[error("{0} is for another processor than the first file: they cannot be loaded together")]
    Mixed(String),
    /// A file is signed.
    #[error(
        "{0} is signed, and the signature would not hold any more; have it stripped, or leave the file as it is"
    )]
    Signed(String),
    /// A file asks not to be bound.
    #[error("{0} says NO_BIND: its imports must not be bound")]
    Forbidden(String),
    /// An image that overlaps with another.
    #[error("{0} would be moved: another file of the set wants its addresses; rebase first, then bind")]
    Moved(String),
    /// A library that Windows places itself.
    #[error(
        "{0} has DYNAMIC_BASE: Windows would not load it at its preferred base; rebase with that flag cleared first, then bind"
    )]
    DynamicBase(String),
    /// An import that the library does not export.
    #[error("{file} imports {symbol} from {library}, which does not export it")]
    NotExported {
        /// The importing file.
        file: String,
        /// The name, or `#` and the number.
        symbol: String,
        /// The library.
        library: String,
    },
    /// Slots that lie over something else.
    #[error(
        "{0} has an import address table that lies over another table, which would not be the same any more"
    )]
    Table(String),
    /// No place for the directory.
    #[error(
        "{file} has {room} bytes of room behind its section table, and the directory of bound imports takes {needed}"
    )]
    NoRoom {
        /// The file.
        file: String,
        /// Bytes needed.
        needed: usize,
        /// Bytes there.
        room: usize,
    },
}

/// Binds all files of a set to each other; they keep their order.
///
/// # Errors
/// What stands in the way; then nothing was done.
pub fn bind<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    options: Options,
) -> Result<Vec<Bound>, Refused> {
    let mut set = Set::default();
    for (name, bytes) in files {
        let file = File::read(bytes).map_err(|why| unreadable(name, why))?;
        set.add(name, file)?;
    }
    check(&set, options)?;
    set.files().map(|(name, file)| one(&set, name, file)).collect()
}

fn unreadable(file: &str, why: Unreadable) -> Refused {
    Refused::Unreadable {
        file: file.to_owned(),
        why,
    }
}

/// The rule of the article: every file will be where it prefers to be.
fn check(set: &Set<'_>, options: Options) -> Result<(), Refused> {
    let mut space = Space::default();
    let kind = set.files().next().map(|(_, file)| file.headers.kind());
    for (name, file) in set.files() {
        let headers = &file.headers;
        if Some(headers.kind()) != kind {
            return Err(Refused::Mixed(name.to_owned()));
        }
        if headers.signature().is_some() && !options.strip_signature {
            return Err(Refused::Signed(name.to_owned()));
        }
        if headers.refuses_binding() {
            return Err(Refused::Forbidden(name.to_owned()));
        }
        if headers.is_library() && headers.has_dynamic_base() && !options.even_dynamic_base {
            return Err(Refused::DynamicBase(name.to_owned()));
        }
        if !space.take(headers.base, headers.size_of_image.into(), &user(headers.wide)) {
            return Err(Refused::Moved(name.to_owned()));
        }
    }
    Ok(())
}

fn one(set: &Set<'_>, name: &str, file: &File<'_>) -> Result<Bound, Refused> {
    let unreadable = |why| unreadable(name, why);
    let headers = &file.headers;
    let imports = file.imports().map_err(unreadable)?;
    let mut bound = Bound {
        name: name.to_owned(),
        libraries: Vec::new(),
        slots: 0,
        left: Vec::new(),
        bytes: file.bytes.to_vec(),
    };
    let mut entries = Vec::new();
    let mut times: HashMap<Vec<u8>, u32> = HashMap::new();
    for import in &imports {
        *times.entry(library_key(import.library)).or_default() += 1;
    }
    for (index, import) in imports.iter().enumerate() {
        let twice = times.get(&library_key(import.library)) != Some(&1);
        let outcome = if twice {
            Outcome::Left(Reason::Twice)
        } else {
            set.addresses(name, import)?
        };
        let library = String::from_utf8_lossy(import.library).into_owned();
        match outcome {
            Outcome::Addresses {
                addresses,
                stamp,
                forwarders,
            } => {
                fill(&mut bound.bytes, file, import, index, Some(&addresses)).map_err(unreadable)?;
                bound.slots += addresses.len() as u64;
                bound.libraries.push(library);
                entries.push(Entry {
                    library: import.library.to_vec(),
                    stamp,
                    forwarders,
                });
            }
            Outcome::Left(reason) => {
                // It may have been bound before.
                if import.descriptor.stamp != 0 {
                    fill(&mut bound.bytes, file, import, index, None).map_err(unreadable)?;
                }
                bound.left.push((library, reason));
                entries.push(Entry {
                    library: import.library.to_vec(),
                    stamp: 0,
                    forwarders: Vec::new(),
                });
            }
        }
    }
    if bound.libraries.is_empty() {
        entries.clear();
    }
    let had = headers.directory(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT).is_some();
    if entries.is_empty() && !had {
        return Ok(bound);
    }
    directory::write(&mut bound.bytes, name, file, &entries)?;
    strip_signature(&mut bound.bytes, headers).map_err(unreadable)?;
    seal(&mut bound.bytes, headers).map_err(unreadable)?;
    if !same_tables(file, &bound.bytes).map_err(unreadable)? {
        return Err(Refused::Table(name.to_owned()));
    }
    Ok(bound)
}

/// Fills the slots of descriptor `index`, or gives them back their names.
fn fill(
    bytes: &mut [u8],
    file: &File<'_>,
    import: &Import<'_>,
    index: usize,
    addresses: Option<&[u64]>,
) -> Result<(), Unreadable> {
    const OUTSIDE: Unreadable = Unreadable::Damaged("its import address table is not stored in the file");
    let headers = &file.headers;
    let bytes_a_slot = width(headers.wide);
    for slot in 0..import.symbols.len() as u32 {
        let value = match addresses {
            Some(addresses) => addresses.get(slot as usize).copied(),
            None => entry(import.descriptor.names(), slot, bytes_a_slot)
                .and_then(|rva| file.word(rva, headers.wide)),
        };
        let place = entry(import.descriptor.slots, slot, bytes_a_slot)
            .and_then(|rva| headers.place(rva, bytes_a_slot));
        let (value, place) = value.zip(place).ok_or(OUTSIDE)?;
        put_word(bytes, place, value, headers.wide)?;
    }
    let (stamp, chain) = match addresses {
        Some(_) => (BOUND, NO_CHAIN),
        None => (0, 0),
    };
    let place = headers
        .directory(IMAGE_DIRECTORY_ENTRY_IMPORT)
        .and_then(|table| entry(table.rva, index as u32, DESCRIPTOR))
        .and_then(|rva| headers.place(rva, DESCRIPTOR))
        .ok_or(OUTSIDE)?;
    put(bytes, place + 4, &stamp.to_le_bytes())?;
    put(bytes, place + 8, &chain.to_le_bytes())
}

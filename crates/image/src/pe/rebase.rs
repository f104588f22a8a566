//! REBASE: gives each file of a set an address range of its own, so that none is moved when it is loaded.
//!
//! The fixups are applied here, once, instead of at every start; and pages that no fixup dirties are shared between processes.
//!
//! Files that were bound to a file that is rebased must notice: the stamp is what they look at, so a rebased file should get a new
//! one ([`Options::stamp`]). Bytes come in and bytes go out; whoever writes files does so elsewhere.

use std::ops::Range;

use object::pe::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE;

use super::fixups::{self, Pages};
use super::loader::map;
use super::loader::space::{Space, user};
use super::patch::{put, put_word, same_tables, seal, strip_signature};
use super::{File, GRANULARITY, Unreadable};

/// Where sets begin unless it is said: above what 32 bits reach, so that 64-bit programs notice truncated pointers; below the
/// system's own libraries for 32 bits.
const FIRST_WIDE: u64 = 0x1_8000_0000;
const FIRST_NARROW: u64 = 0x1000_0000;

/// How to lay a set out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The first address, or with `down` the first that is not used any more; a multiple of 64 KiB.
    pub base: Option<u64>,
    /// From high addresses to low ones.
    pub down: bool,
    /// Bytes that stay free behind each image, so that a later version may be larger.
    pub room: u64,
    /// Addresses that no file may get.
    pub exclude: Vec<Range<u64>>,
    /// `DYNAMIC_BASE` is cleared: with it today's Windows chooses the address itself, whatever the file prefers.
    pub clear_dynamic_base: bool,
    /// A signature is taken off; it would not hold any more.
    pub strip_signature: bool,
    /// The new stamp of files that move, seconds since 1970; the old one stays without it.
    pub stamp: Option<u32>,
}

/// A file at its new place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// Its name.
    pub name: String,
    /// Its old base.
    pub from: u64,
    /// Its new base.
    pub to: u64,
    /// Fixups that were applied.
    pub fixups: u64,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Why a set is not rebased.
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
    /// A file is signed.
    #[error(
        "{0} is signed, and the signature would not hold any more; have it stripped, or leave the file as it is"
    )]
    Signed(String),
    /// A file without base relocations.
    #[error("{0} cannot be moved: its base relocations were stripped")]
    Fixed(String),
    /// A file for another processor or of another width.
    #[error("{0} is for another processor than the first file: they cannot be loaded together")]
    Mixed(String),
    /// The first address is no multiple of 64 KiB.
    #[error("{0:#x} is no multiple of 64 KiB")]
    Base(u64),
    /// The images do not fit.
    #[error("there is no room for {0} between the given addresses")]
    Full(String),
    /// A fixup that the file cannot hold.
    #[error("{0} has a base relocation in bytes that are not stored in the file, or stored twice")]
    Unstored(String),
    /// A fixup in a table.
    #[error(
        "{0} has a base relocation in a table that the loader reads, which would not be the same any more"
    )]
    Table(String),
}

/// Rebases a set of files; they keep their order.
///
/// # Errors
/// What stands in the way; then nothing was done.
pub fn rebase<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    options: &Options,
) -> Result<Vec<Rebased>, Refused> {
    let mut read = Vec::new();
    for (name, bytes) in files {
        let unreadable = |why| Refused::Unreadable {
            file: name.to_owned(),
            why,
        };
        let file = File::read(bytes).map_err(unreadable)?;
        if file.headers.is_fixed() {
            return Err(Refused::Fixed(name.to_owned()));
        }
        if file.headers.signature().is_some() && !options.strip_signature {
            return Err(Refused::Signed(name.to_owned()));
        }
        read.push((name, file));
    }
    let Some((_, first)) = read.first() else {
        return Ok(Vec::new());
    };
    let (wide, kind) = (first.headers.wide, first.headers.kind());
    let limits = limits(options, wide)?;
    let mut space = Space::with(&options.exclude);
    let mut rebased = Vec::new();
    for (name, file) in &read {
        if file.headers.kind() != kind {
            return Err(Refused::Mixed((*name).to_owned()));
        }
        let size = u64::from(file.headers.size_of_image)
            .checked_next_multiple_of(GRANULARITY)
            .and_then(|size| size.checked_add(options.room))
            .ok_or_else(|| Refused::Full((*name).to_owned()))?;
        let place = if options.down {
            space.highest(size, &limits)
        } else {
            space.lowest(size, &limits)
        };
        let base = place.ok_or_else(|| Refused::Full((*name).to_owned()))?;
        rebased.push(moved(name, file, base, options)?);
    }
    Ok(rebased)
}

fn limits(options: &Options, wide: bool) -> Result<Range<u64>, Refused> {
    let all = user(wide);
    let first = if wide { FIRST_WIDE } else { FIRST_NARROW };
    match options.base {
        Some(base) if !base.is_multiple_of(GRANULARITY) => Err(Refused::Base(base)),
        Some(base) if options.down => Ok(all.start..base.min(all.end)),
        Some(base) => Ok(base.max(all.start)..all.end),
        None => Ok(first..all.end),
    }
}

/// The file as it is when it was linked for `base`.
fn moved(name: &str, file: &File<'_>, base: u64, options: &Options) -> Result<Rebased, Refused> {
    let headers = &file.headers;
    let unreadable = |why| Refused::Unreadable {
        file: name.to_owned(),
        why,
    };
    let mut bytes = file.bytes.to_vec();
    let mut applied = 0;
    if let Some(directory) = fixups::directory(headers).filter(|_| base != headers.base) {
        let mut image = map(file, Vec::new()).map_err(unreadable)?;
        let distance = base.wrapping_sub(headers.base);
        let mut dirty = Pages::of(image.len());
        applied = fixups::apply(&mut image, directory, distance, &mut dirty).map_err(unreadable)?;
        for section in &headers.sections {
            let start = section.rva as usize;
            let stored = image.get(start..start + section.stored as usize);
            let stored = stored.ok_or_else(|| Refused::Unstored(name.to_owned()))?;
            put(&mut bytes, section.offset as usize, stored).map_err(unreadable)?;
        }
        // What the file cannot hold is lost on the way: a zero-filled place, or one that two sections share.
        let again = File {
            bytes: &bytes,
            headers: headers.clone(),
        };
        if map(&again, Vec::new()).map_err(unreadable)? != image {
            return Err(Refused::Unstored(name.to_owned()));
        }
    }
    let places = &headers.places;
    let mut edit = || {
        put_word(&mut bytes, places.base(headers.wide), base, headers.wide)?;
        if let Some(stamp) = options.stamp.filter(|_| base != headers.base) {
            put(&mut bytes, places.stamp(), &stamp.to_le_bytes())?;
        }
        if options.clear_dynamic_base {
            let flags = headers.dll_characteristics & !IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE.0;
            put(&mut bytes, places.dll_characteristics(), &flags.to_le_bytes())?;
        }
        strip_signature(&mut bytes, headers)?;
        seal(&mut bytes, headers)
    };
    edit().map_err(unreadable)?;
    if !same_tables(file, &bytes).map_err(unreadable)? {
        return Err(Refused::Table(name.to_owned()));
    }
    Ok(Rebased {
        name: name.to_owned(),
        from: headers.base,
        to: base,
        fixups: applied,
        bytes,
    })
}

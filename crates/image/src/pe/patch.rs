//! Writing into bytes: little-endian, never outside.

use super::imports::Import;
use super::{File, Headers, Unreadable, checksum};

/// Writes `value` at `at`.
///
/// # Errors
/// When the place lies outside.
pub(super) fn put(bytes: &mut [u8], at: usize, value: &[u8]) -> Result<(), Unreadable> {
    let end = at.saturating_add(value.len());
    let place = bytes
        .get_mut(at..end)
        .ok_or(Unreadable::Damaged("something to be written lies outside"))?;
    place.copy_from_slice(value);
    Ok(())
}

/// An address of the file's own width.
///
/// # Errors
/// When the place lies outside.
pub(super) fn put_word(bytes: &mut [u8], at: usize, value: u64, wide: bool) -> Result<(), Unreadable> {
    if wide {
        put(bytes, at, &value.to_le_bytes())
    } else {
        put(bytes, at, &(value as u32).to_le_bytes())
    }
}

/// Takes the signature off: its directory entry, and its bytes when they are the file's last.
///
/// # Errors
/// When the directory lies outside.
pub(super) fn strip_signature(bytes: &mut Vec<u8>, headers: &Headers) -> Result<(), Unreadable> {
    let Some(signature) = headers.signature() else {
        return Ok(());
    };
    put(
        bytes,
        headers
            .places
            .directory(object::pe::IMAGE_DIRECTORY_ENTRY_SECURITY),
        &[0; 8],
    )?;
    let start = signature.rva as usize;
    if start.saturating_add(signature.size as usize) >= bytes.len() {
        bytes.truncate(start);
    }
    Ok(())
}

/// Writes the checksum that the bytes have now.
///
/// # Errors
/// When its place lies outside.
pub(super) fn seal(bytes: &mut [u8], headers: &Headers) -> Result<(), Unreadable> {
    let place = headers.places.checksum();
    let sum = checksum::of(bytes, place);
    put(bytes, place, &sum.to_le_bytes())
}

/// True when the loader finds in the new file what it finds in the old one, addresses and stamps apart. No linker lays a table over
/// what is changed, but a hostile file may, and then the new one would not load, or load something else.
///
/// # Errors
/// When either cannot be read.
pub(super) fn same_tables(old: &File<'_>, new: &[u8]) -> Result<bool, Unreadable> {
    let new = File::read(new)?;
    let (before, after) = (old.imports()?, new.imports()?);
    let same_imports = before.len() == after.len()
        && before.iter().zip(&after).all(|(before, after)| {
            let places = |import: &Import<'_>| (import.descriptor.lookup, import.descriptor.slots);
            before.library == after.library
                && before.symbols == after.symbols
                && places(before) == places(after)
        });
    Ok(same_imports
        && old.headers.sections == new.headers.sections
        && old.headers.size_of_image == new.headers.size_of_image
        && old.exports()? == new.exports()?
        && old.fixups()? == new.fixups()?
        && new.bound().is_ok())
}

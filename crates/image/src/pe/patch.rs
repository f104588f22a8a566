//! Writing into bytes: little-endian, never outside.

use super::{Headers, Unreadable, checksum};

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

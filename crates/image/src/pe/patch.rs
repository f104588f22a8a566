//! Writing into bytes: little-endian, never outside.

use super::Unreadable;

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

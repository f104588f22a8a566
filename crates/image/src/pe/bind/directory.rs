//! Writing the directory of bound imports into the room behind the section table.
//!
//! Sections begin at a multiple of the file alignment, so there is nearly always some room in front of the first. The headers are never
//! grown beyond it: every place in the file would move.

use std::collections::HashMap;

use object::pe::IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT;

use super::super::File;
use super::super::bound::ENTRY;
use super::super::patch::put;
use super::{Refused, unreadable};

/// One library of the directory.
pub(super) struct Entry {
    /// Its name.
    pub library: Vec<u8>,
    /// Its stamp; 0 when its imports are not bound.
    pub stamp: u32,
    /// Libraries that some of its exports are forwarded to.
    pub forwarders: Vec<(Vec<u8>, u32)>,
}

/// Puts the directory into the file, in place of an older one; without entries, takes that away.
pub(super) fn write(bytes: &mut [u8], name: &str, file: &File<'_>, entries: &[Entry]) -> Result<(), Refused> {
    let damaged = |why| unreadable(name, why);
    let headers = &file.headers;
    let start = headers.places.sections_end.next_multiple_of(4);
    let end = headers
        .sections
        .iter()
        .filter(|section| section.stored > 0)
        .map(|section| section.offset.min(section.rva) as usize)
        .fold(bytes.len(), usize::min);
    let old = headers.directory(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT);
    if let Some(old) = old.filter(|old| old.rva as usize >= headers.places.sections_end) {
        let from = old.rva as usize;
        if let Some(place) = bytes.get_mut(from..(from + old.size as usize).min(end)) {
            place.fill(0);
        }
    }
    let place = headers.places.directory(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT);
    if entries.is_empty() {
        return put(bytes, place, &[0; 8]).map_err(damaged);
    }
    let directory = compose(entries).ok_or_else(|| Refused::NoRoom {
        file: name.to_owned(),
        needed: usize::from(u16::MAX) + 1,
        room: end.saturating_sub(start),
    })?;
    let room = bytes.get(start..end).unwrap_or_default();
    // What is not zero belongs to somebody, who is not named anywhere.
    let room = room.iter().take_while(|&&byte| byte == 0).count();
    let last = start + directory.len();
    let mut size_of_headers = headers.size_of_headers as usize;
    if last > size_of_headers {
        size_of_headers = last.next_multiple_of(headers.file_alignment.clamp(1, 0x1_0000) as usize);
    }
    if directory.len() > room || size_of_headers > end.max(headers.size_of_headers as usize) {
        return Err(Refused::NoRoom {
            file: name.to_owned(),
            needed: directory.len(),
            room,
        });
    }
    let numbers = [start, directory.len(), size_of_headers].map(|number| (number as u32).to_le_bytes());
    let [rva, size, headers_size] = numbers;
    put(bytes, start, &directory).map_err(damaged)?;
    put(bytes, place, &rva).map_err(damaged)?;
    put(bytes, place + 4, &size).map_err(damaged)?;
    put(bytes, headers.places.size_of_headers(), &headers_size).map_err(damaged)
}

/// The directory's bytes: all entries, one of zeros, then the names, each once. `None` when the offsets have no room in 16 bits.
fn compose(entries: &[Entry]) -> Option<Vec<u8>> {
    let mut heads = Vec::new();
    for entry in entries {
        let forwarders = u16::try_from(entry.forwarders.len()).ok()?;
        heads.push((entry.library.as_slice(), entry.stamp, forwarders));
        heads.extend(
            entry
                .forwarders
                .iter()
                .map(|(name, stamp)| (name.as_slice(), *stamp, 0)),
        );
    }
    let mut directory = Vec::new();
    let mut names: Vec<u8> = Vec::new();
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for (name, stamp, forwarders) in &heads {
        let place = *places.entry(name).or_insert_with(|| {
            let place = names.len();
            names.extend_from_slice(name);
            names.push(0);
            place
        });
        let offset = u16::try_from((heads.len() + 1) * ENTRY as usize + place).ok()?;
        directory.extend(stamp.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(forwarders.to_le_bytes());
    }
    directory.extend([0; ENTRY as usize]);
    directory.extend(names);
    Some(directory)
}

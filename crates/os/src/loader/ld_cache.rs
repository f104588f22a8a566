//! The loader's cache of libraries, /etc/ld.so.cache, which says where a library is without searching the disk.
//!
//! The file begins with the text `glibc-ld.so.cache1.1`, perhaps behind an older table that begins with
//! `ld.so-1.7.0`. A header of 48 bytes with the number of entries at offset 20 is followed by entries of 24 bytes:
//! flags, offset of the name, offset of the path (both from the header), version, hardware (glibc `sysdeps/generic/dl-cache.h`).

use std::ffi::OsString;
use std::path::PathBuf;

use memchr::memmem;

/// The paths of all libraries in the cache, in its order; empty if the file is of another kind or damaged.
pub(super) fn paths(bytes: &[u8]) -> Vec<PathBuf> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const COUNT: usize = 20;
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    const PATH: usize = 8;

    let Some(begin) = memmem::find(bytes, MAGIC) else {
        return Vec::new();
    };
    let table = &bytes[begin..];
    let count = u32_at(table, COUNT).unwrap_or(0) as usize;
    let entries = table
        .get(HEADER..)
        .unwrap_or_default()
        .chunks_exact(ENTRY)
        .take(count);
    let path = |entry: &[u8]| {
        let rest = table.get(u32_at(entry, PATH)? as usize..)?;
        let path = String::from_utf8(rest[..memchr::memchr(0, rest)?].to_vec()).ok()?;
        Some(PathBuf::from(OsString::from(path)))
    };
    entries.filter_map(path).collect()
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes
        .get(offset..offset + 4)?
        .try_into()
        .ok()
        .map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(paths: &[&str]) -> Vec<u8> {
        let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
        bytes.extend((paths.len() as u32).to_ne_bytes());
        bytes.resize(48, 0);
        let mut strings = Vec::new();
        let strings_at = 48 + 24 * paths.len();
        for path in paths {
            let at = (strings_at + strings.len()) as u32;
            bytes.extend(0x303_u32.to_ne_bytes());
            bytes.extend(at.to_ne_bytes());
            bytes.extend(at.to_ne_bytes());
            bytes.extend([0; 12]);
            strings.extend(path.as_bytes());
            strings.push(0);
        }
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn paths_are_found_also_behind_an_old_table() {
        let expected = ["/lib/a.so.1", "/lib/b.so"].map(PathBuf::from);
        assert_eq!(paths(&cache(&["/lib/a.so.1", "/lib/b.so"])), expected);
        let old = [
            b"ld.so-1.7.0\0\0\0\0\0".to_vec(),
            cache(&["/lib/a.so.1", "/lib/b.so"]),
        ]
        .concat();
        assert_eq!(paths(&old), expected);
    }

    #[test]
    fn damage_does_no_harm() {
        let whole = cache(&["/lib/a.so.1", "/lib/b.so"]);
        for length in 0..whole.len() {
            paths(&whole[..length]);
        }
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..500 {
            let mut bytes = whole.clone();
            let at = random.usize(20..bytes.len());
            bytes[at] = random.u8(..);
            paths(&bytes);
        }
        assert!(paths(b"").is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_a_c_library_in_its_cache() {
        let Ok(bytes) = std::fs::read("/etc/ld.so.cache") else {
            return;
        };
        assert!(paths(&bytes).iter().any(|path| path.ends_with("libc.so.6")));
    }
}

//! Reading /proc without touching the heap.
//!
//! A measured process may be measuring its heap. `std::fs` allocates for paths, buffers and directory streams, so
//! the few files read between samples are read here into arrays on the stack.

#![expect(
    unsafe_code,
    reason = "raw open, read and getdents64 are the way to read without allocating"
)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Reads a file into `buffer` and returns the part that was filled; a longer file is cut off.
pub(super) fn read<'a>(path: &CStr, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let file = open(None, path, 0)?;
    let filled = fill(&file, buffer)?;
    Ok(&buffer[..filled])
}

fn open(folder: Option<&OwnedFd>, path: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let folder = folder.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    // SAFETY: `path` ends with a zero byte; no mode is needed since nothing is created.
    let fd = unsafe { libc::openat(folder, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn fill(file: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: the pointer and the length describe `rest`.
        let got = unsafe { libc::read(file.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len()) };
        match got {
            0 => break,
            1.. => filled += got as usize,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(filled)
}

/// Calls `visit` with the text of the file `name` in each folder of `parent`. Folders that vanish meanwhile (threads
/// that end) are left out.
pub(super) fn for_each_in(parent: &CStr, name: &CStr, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    /// Offsets in `struct linux_dirent64` (getdents(2)): inode 8, offset 8, record length 2, type 1, name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;

    let parent = open(None, parent, libc::O_DIRECTORY)?;
    let mut entries = [0_u8; 4096];
    loop {
        // SAFETY: the pointer and the length describe `entries`; the kernel writes whole records into it.
        let got = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                parent.as_raw_fd(),
                entries.as_mut_ptr(),
                entries.len(),
            )
        };
        let mut records = match got {
            0 => return Ok(()),
            1.. => &entries[..got as usize],
            _ => return Err(io::Error::last_os_error()),
        };
        while records.len() > NAME {
            let length = usize::from(u16::from_ne_bytes([records[LENGTH], records[LENGTH + 1]]));
            let record = &records[..length.clamp(NAME, records.len())];
            records = &records[record.len()..];
            let Ok(folder) = CStr::from_bytes_until_nul(&record[NAME..]) else {
                continue;
            };
            if folder.to_bytes().starts_with(b".") {
                continue;
            }
            let mut text = [0_u8; 128];
            let opened =
                open(Some(&parent), folder, libc::O_DIRECTORY).and_then(|dir| open(Some(&dir), name, 0));
            if let Ok(filled) = opened.and_then(|file| fill(&file, &mut text)) {
                visit(&text[..filled]);
            }
        }
    }
}

/// The numbers that follow `key` at the beginning of a line, e.g. `key = b"VmRSS:"`.
pub(super) fn numbers<'a>(text: &'a [u8], key: &'a [u8]) -> Option<impl Iterator<Item = u64> + 'a> {
    text.split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(key))
        .map(words_as_numbers)
}

/// The words of a line as numbers, up to the first word that is not one.
pub(super) fn words_as_numbers(line: &[u8]) -> impl Iterator<Item = u64> + '_ {
    line.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .map_while(number)
}

fn number(word: &[u8]) -> Option<u64> {
    word.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_their_key() {
        let text = b"VmHWM:\t    1234 kB\nVmRSS:\t 99 kB\ncpu  1 2 3\ncpu0 4 5 6\n";
        assert_eq!(numbers(text, b"VmHWM:").unwrap().next(), Some(1234));
        assert_eq!(numbers(text, b"cpu ").unwrap().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(numbers(text, b"VmSwap:").is_none());
        assert_eq!(words_as_numbers(b"18446744073709551616 1").count(), 0);
    }

    #[test]
    fn files_are_read_up_to_the_size_of_the_buffer() {
        let mut buffer = [0; 6];
        assert_eq!(read(c"/proc/version", &mut buffer).unwrap(), b"Linux ");
        let error = read(c"/proc/no-such-file", &mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn each_folder_is_visited() {
        let mut threads = 0;
        for_each_in(c"/proc/self/task", c"comm", |_| threads += 1).unwrap();
        assert!(threads >= 1);
    }
}

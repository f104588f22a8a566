#![expect(
    unsafe_code,
    reason = "mmap and the memory that it gives have no safe wrapper"
)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    pub(super) fn new(file: &File, length: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    pub(super) fn read(&self, offset: usize) -> u8 {
        if offset >= self.length {
            return 0;
        }
        // SAFETY: the offset lies within the mapping.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: as above; the mapping is readable while `self` lives.
        unsafe { place.read_volatile() }
    }

    pub(super) fn write(&mut self, offset: usize, byte: u8) {
        if offset >= self.length {
            return;
        }
        // SAFETY: the offset lies within the mapping.
        let place = unsafe { self.start.add(offset) };
        // SAFETY: as above; the mapping is writable, and exclusively ours by `&mut self`.
        unsafe { place.write_volatile(byte) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: start and length are those that mmap gave, and nobody uses them after this.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

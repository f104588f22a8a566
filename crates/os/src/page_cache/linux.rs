#![expect(unsafe_code, reason = "the page cache is reached by raw calls")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::Unsupported;

pub fn support() -> Result<(), Unsupported> {
    Ok(())
}

pub fn evict(file: &Path) -> io::Result<()> {
    let file = File::open(file)?;
    // What is dirty stays. A file system that is read-only has nothing dirty and may refuse.
    let _ = file.sync_data();
    // SAFETY: a descriptor that we own, and numbers.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

pub fn resident(file: &Path) -> io::Result<u64> {
    let file = File::open(file)?;
    let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    if length == 0 {
        return Ok(0);
    }
    // SAFETY: asks for the page size.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    // SAFETY: a new mapping at an address of the kernel's choice; nobody reads it.
    let map = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut pages = vec![0_u8; length.div_ceil(page)];
    // SAFETY: the mapping has that length, and `pages` a byte for each of its pages.
    let answer = unsafe { libc::mincore(map, length, pages.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping that was just made, which nobody refers to.
    unsafe { libc::munmap(map, length) };
    if answer < 0 {
        return Err(error);
    }
    let resident = pages.iter().filter(|&&page| page & 1 != 0).count();
    Ok((resident * page) as u64)
}

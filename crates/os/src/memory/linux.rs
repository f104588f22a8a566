//! Linux: sysconf(3), /proc/meminfo, cgroup limits, and sealed memory files.

#![expect(
    unsafe_code,
    reason = "memfd_create, seals and sysconf have no safe wrapper in the standard library"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;

use crate::cgroup;

pub(super) fn page_size() -> usize {
    // SAFETY: sysconf has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

pub(super) fn total_bytes() -> Option<u64> {
    let machine = meminfo("MemTotal:")?;
    Some(cgroup::memory().map_or(machine, |group| group.limit.min(machine)))
}

pub(super) fn available_bytes() -> Option<u64> {
    let machine = meminfo("MemAvailable:")?;
    let left = cgroup::memory().map(|group| group.limit.saturating_sub(group.usage));
    Some(left.map_or(machine, |left| left.min(machine)))
}

fn meminfo(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

pub(super) fn capped_file(cap: u64) -> io::Result<File> {
    // SAFETY: the name ends with a zero byte.
    let fd = unsafe { libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and belongs to nobody else.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(cap)?;
    // Sealing against shrinking as well keeps `>file` tricks through /dev/stdout from throwing the output away.
    let seals = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is open; the argument is an integer.
    if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

/// All who inherit the file share its position, so the position is what they have written together. A program that
/// opened /dev/stdout anew wrote from a position of its own; then the pages that exist tell.
pub(super) fn written_len(mut file: &File) -> io::Result<u64> {
    let position = file.stream_position()?;
    let page = page_size() as u64;
    let stored = file.metadata()?.blocks() * 512;
    if stored <= position.next_multiple_of(page) {
        return Ok(position);
    }
    Ok(position.max(end_of_data(file)?))
}

/// The position after the last byte that is not zero.
fn end_of_data(file: &File) -> io::Result<u64> {
    // A file description of our own: seeking in the shared one would move the writers.
    let mut own = OpenOptions::new()
        .read(true)
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let seek = |from: u64, whence| {
        let from = libc::off_t::try_from(from).unwrap_or(libc::off_t::MAX);
        // SAFETY: the descriptor is open; the arguments are integers.
        u64::try_from(unsafe { libc::lseek(own.as_raw_fd(), from, whence) }).ok()
    };
    let mut last = None;
    let mut from = 0;
    while let Some(begin) = seek(from, libc::SEEK_DATA) {
        from = seek(begin, libc::SEEK_HOLE).unwrap_or(u64::MAX);
        last = Some((begin, from));
    }
    let Some((begin, end)) = last else { return Ok(0) };
    let begin = begin.max(end.saturating_sub(page_size() as u64));
    own.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    own.take(end - begin).read_to_end(&mut bytes)?;
    Ok(begin
        + bytes
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |index| index as u64 + 1))
}

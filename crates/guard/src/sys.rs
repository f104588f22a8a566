//! The system calls that the guard makes, with types in place of registers.
#![expect(unsafe_code, reason = "the one place where arguments become registers")]

use crate::arch::{nr, syscall};
use crate::layout::IDENTITY_WORDS;
use crate::text::Text;

/// An error number as the kernel gives it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    pub const ENOENT: Self = Self(2);
    pub const ENOTDIR: Self = Self(20);
}

pub type Result<T> = core::result::Result<T, Errno>;

/// What tells one version of a file from another; see [`IDENTITY_WORDS`].
pub type Identity = [u64; IDENTITY_WORDS];

const AT_FDCWD: usize = -100_isize as usize;

const PROT_NONE: usize = 0;
const MAP_PRIVATE: usize = 0x2;
const MAP_FIXED: usize = 0x10;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

fn check(answer: isize) -> Result<usize> {
    if (-4095..0).contains(&answer) {
        Err(Errno(-answer as i32))
    } else {
        Ok(answer as usize)
    }
}

/// A system call that cannot touch memory that we use.
fn call(number: usize, args: [usize; 6]) -> Result<usize> {
    // SAFETY: private to this file, where each caller passes no pointer, or one made from a live reference of at least the
    // size that the call reads or writes, and asks for no change of memory that is in use.
    check(unsafe { syscall(number, args) })
}

/// An open descriptor; closed when dropped.
pub struct Fd(usize);

impl Drop for Fd {
    fn drop(&mut self) {
        // Nothing can be done about a failing close, and the kernel frees the number in any case.
        let _ = call(nr::CLOSE, [self.0, 0, 0, 0, 0, 0]);
    }
}

/// Opens a file for reading, closed on exec.
pub fn open(path: Text) -> Result<Fd> {
    const O_RDONLY_CLOEXEC: usize = 0o2_000_000;
    call(nr::OPENAT, [AT_FDCWD, path.address(), O_RDONLY_CLOEXEC, 0, 0, 0]).map(Fd)
}

/// `struct stat`: device, inode, size and change of content lie at the same places on x86-64 and AArch64, and no
/// architecture's structure is larger.
struct Stat([u64; 18]);

impl Stat {
    const fn identity(&self) -> Identity {
        [self.0[0], self.0[1], self.0[6], self.0[11], self.0[12]]
    }
}

/// The identity of the file at a path; links are followed.
pub fn identity(path: Text) -> Result<Identity> {
    let mut stat = Stat([0; 18]);
    let into = stat.0.as_mut_ptr().addr();
    call(nr::NEWFSTATAT, [AT_FDCWD, path.address(), into, 0, 0, 0])?;
    Ok(stat.identity())
}

/// The identity of an open file.
pub fn identity_of(file: &Fd) -> Result<Identity> {
    let mut stat = Stat([0; 18]);
    call(nr::FSTAT, [file.0, stat.0.as_mut_ptr().addr(), 0, 0, 0, 0])?;
    Ok(stat.identity())
}

/// Whether nothing is mapped in an address range: it can be reserved, which is undone at once.
pub fn is_free(begin: usize, length: usize) -> bool {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    match call(nr::MMAP, [begin, length, PROT_NONE, flags, usize::MAX, 0]) {
        Ok(at) => {
            // A kernel before Linux 4.17 takes the address for a hint.
            call(nr::MUNMAP, [at, length, 0, 0, 0, 0]).is_ok() && at == begin
        }
        Err(_) => false,
    }
}

/// Maps a part of a file where the kernel likes; returns the address.
pub fn map(file: &Fd, offset: usize, length: usize, protection: usize) -> Result<usize> {
    call(nr::MMAP, [0, length, protection, MAP_PRIVATE, file.0, offset])
}

/// Maps a part of a file, or zeroed memory when no file is given, at an address, in place of what is there.
///
/// # Safety
/// The range must lie in a mapping of the caller's that nothing refers to.
pub unsafe fn map_at(
    at: usize,
    file: Option<(&Fd, usize)>,
    length: usize,
    protection: usize,
) -> Result<usize> {
    let (flags, number, offset) = match file {
        Some((file, offset)) => (0, file.0, offset),
        None => (MAP_ANONYMOUS, usize::MAX, 0),
    };
    let flags = flags | MAP_PRIVATE | MAP_FIXED;
    // SAFETY: the caller owns the range that is replaced.
    check(unsafe { syscall(nr::MMAP, [at, length, protection, flags, number, offset]) })
}

/// Writes a message to standard error in one piece. Where there is none, nobody reads it.
pub fn complain<const N: usize>(parts: [&[u8]; N]) {
    const STDERR: usize = 2;
    // struct iovec: address and length.
    let vector = parts.map(|part| [part.as_ptr().addr(), part.len()]);
    let _ = call(nr::WRITEV, [STDERR, vector.as_ptr().addr(), N, 0, 0, 0]);
}

/// Replaces this process by a program. Returns only when that failed.
///
/// # Safety
/// `argv` and `envp` must be arrays of texts ended by null.
pub unsafe fn execute(path: Text, argv: usize, envp: usize) -> Errno {
    // SAFETY: the caller's promise is what execve asks for.
    match check(unsafe { syscall(nr::EXECVE, [path.address(), argv, envp, 0, 0, 0]) }) {
        Err(errno) => errno,
        Ok(_) => Errno(0),
    }
}

pub fn exit(code: i32) -> ! {
    loop {
        let _ = call(nr::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]);
    }
}

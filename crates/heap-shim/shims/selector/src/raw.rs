//! System calls without the C library.
//!
//! The choice is made inside the first `malloc`, perhaps before the C library has started. Its functions may not
//! work yet, may be replaced by another preloaded library that allocates, may be points of cancellation, and set
//! `errno`. The kernel has none of these problems.

use core::arch::asm;
use core::ffi::CStr;

/// Numbers of system calls and constants of one architecture.
#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const FUTEX: usize = 202;
    pub const OPENAT: usize = 257;
    pub const READLINKAT: usize = 267;
}

/// Numbers of system calls and constants of one architecture.
#[cfg(target_arch = "aarch64")]
mod number {
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const READ: usize = 63;
    pub const READLINKAT: usize = 78;
    pub const FUTEX: usize = 98;
    pub const MUNMAP: usize = 215;
    pub const MMAP: usize = 222;
    pub const MPROTECT: usize = 226;
}

const AT_FDCWD: usize = -100_isize as usize;
const O_CLOEXEC: usize = 0o2_000_000;
const PROT_READ: usize = 1;
const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE_ANONYMOUS: usize = 0x22;

/// A system call. The result is negative (an error number) or what the call returns.
///
/// # Safety
/// The obligations of the system call `number`, syscalls(2).
unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the kernel changes the result and the two clobbered registers only; memory by the caller's obligation.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the kernel changes the result only; memory by the caller's obligation.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

fn success(result: isize) -> Option<usize> {
    usize::try_from(result).ok()
}

/// readlinkat(2): the target of a symbolic link. `None` when it cannot be read or fills the buffer (it may be cut).
pub fn read_link<'buffer>(path: &CStr, buffer: &'buffer mut [u8]) -> Option<&'buffer [u8]> {
    let arguments = [
        AT_FDCWD,
        path.as_ptr() as usize,
        buffer.as_mut_ptr() as usize,
        buffer.len(),
        0,
        0,
    ];
    // SAFETY: a C string, and a buffer of the length given.
    let length = success(unsafe { call(number::READLINKAT, arguments) })?;
    buffer.get(..length).filter(|target| target.len() < buffer.len())
}

/// An open file; closed when dropped.
pub struct File {
    descriptor: usize,
}

/// openat(2): opens a file for reading. `None` when it is not there or may not be read.
pub fn open(path: &CStr) -> Option<File> {
    let arguments = [AT_FDCWD, path.as_ptr() as usize, O_CLOEXEC, 0, 0, 0];
    // SAFETY: a C string.
    let descriptor = success(unsafe { call(number::OPENAT, arguments) })?;
    Some(File { descriptor })
}

impl File {
    /// read(2), to the end. `None` on an error, or when the buffer has no byte to spare at the end.
    pub fn read<'buffer>(&self, buffer: &'buffer mut [u8]) -> Option<&'buffer [u8]> {
        let mut length = 0;
        loop {
            let rest = buffer.get_mut(length..).filter(|rest| !rest.is_empty())?;
            let arguments = [self.descriptor, rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0];
            // SAFETY: a buffer of the length given.
            match success(unsafe { call(number::READ, arguments) })? {
                0 => return buffer.get(..length),
                count => length += count,
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor was opened by `open` and is known to nobody else.
        let _closed = unsafe { call(number::CLOSE, [self.descriptor, 0, 0, 0, 0, 0]) };
    }
}

/// Calls `use_it` with a zeroed buffer of `size` bytes that lives until it returns. `None` when there is no memory.
/// Not on the stack: the caller may run on a small one.
pub fn with_buffer<T>(size: usize, use_it: impl FnOnce(&mut [u8]) -> T) -> Option<T> {
    let arguments = [0, size, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, usize::MAX, 0];
    // SAFETY: a new private mapping touches nothing that exists.
    let start = success(unsafe { call(number::MMAP, arguments) })?;
    // SAFETY: the mapping is readable, writable, zeroed, of this size, and nobody else knows it.
    let buffer = unsafe { core::slice::from_raw_parts_mut(start as *mut u8, size) };
    let result = use_it(buffer);
    // SAFETY: the mapping was made above, and the borrow of it has ended.
    let _unmapped = unsafe { call(number::MUNMAP, [start, size, 0, 0, 0, 0]) };
    Some(result)
}

/// mprotect(2): makes whole pages read-only. When it fails (a strict seccomp filter), they stay writable.
///
/// # Safety
/// Nothing writes to the pages from now on.
pub unsafe fn make_read_only(start: *mut u8, size: usize) {
    // SAFETY: by the caller's obligation nothing depends on write access.
    let _result = unsafe { call(number::MPROTECT, [start as usize, size, PROT_READ, 0, 0, 0]) };
}

/// futex(2): sleeps while `*word` is `value`.
pub fn wait_while(word: &core::sync::atomic::AtomicU32, value: u32) {
    const FUTEX_WAIT_PRIVATE: usize = 128;
    let arguments = [
        word.as_ptr() as usize,
        FUTEX_WAIT_PRIVATE,
        value as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the word lives as long as the borrow; no timeout is given.
    let _result = unsafe { call(number::FUTEX, arguments) };
}

/// futex(2): wakes everyone who sleeps on `word`.
pub fn wake_all(word: &core::sync::atomic::AtomicU32) {
    const FUTEX_WAKE_PRIVATE: usize = 129;
    let arguments = [
        word.as_ptr() as usize,
        FUTEX_WAKE_PRIVATE,
        i32::MAX as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the word lives as long as the borrow.
    let _result = unsafe { call(number::FUTEX, arguments) };
}

//! AArch64: the `svc` instruction, generic system call table.
#![expect(
    unsafe_code,
    reason = "system calls and the program's entry are machine instructions"
)]

use core::arch::{asm, naked_asm};

/// System call numbers (asm-generic/unistd.h).
pub mod nr {
    pub const DUP3: usize = 24;
    pub const FCHDIR: usize = 50;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const GETDENTS64: usize = 61;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const PPOLL: usize = 73;
    pub const EXIT_GROUP: usize = 94;
    pub const WAITID: usize = 95;
    pub const CLOCK_GETTIME: usize = 113;
    pub const SCHED_SETAFFINITY: usize = 122;
    pub const SCHED_GETAFFINITY: usize = 123;
    pub const RT_SIGACTION: usize = 134;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const RT_SIGRETURN: usize = 139;
    pub const SETPGID: usize = 154;
    pub const SETSID: usize = 157;
    pub const PRCTL: usize = 167;
    pub const SCHED_YIELD: usize = 124;
    pub const GETPID: usize = 172;
    pub const GETPPID: usize = 173;
    pub const SENDTO: usize = 206;
    pub const RECVMSG: usize = 212;
    pub const MUNMAP: usize = 215;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
    pub const WAIT4: usize = 260;
    pub const PIDFD_SEND_SIGNAL: usize = 424;
    pub const PIDFD_OPEN: usize = 434;
    pub const CLOSE_RANGE: usize = 436;
}

/// Makes a system call and returns the kernel's answer unchanged.
///
/// # Safety
/// The arguments must be what the call with that number asks for: pointers valid for what the kernel reads
/// and writes, and no effect that breaks a promise made elsewhere in the program (unmapping live memory).
#[inline]
pub unsafe fn syscall(number: usize, args: [usize; 6]) -> isize {
    let answer: isize;
    // SAFETY: the kernel preserves every register but x0; the caller vouches for the arguments.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] as isize => answer,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            in("x4") args[4],
            in("x5") args[5],
            options(nostack),
        );
    }
    answer
}

/// `clone(2)` with `flags`, whose child runs `entry(argument)` on the stack that ends at `stack_top`.
///
/// The child never returns into the caller's frames, which is what makes sharing memory with a suspended
/// parent sound: the two never stand on the same stack. Returns the child's pid or a negative errno; with
/// `CLONE_PIDFD` the kernel stores a descriptor of the child in `pidfd`.
///
/// # Safety
/// `stack_top` must be the 16-byte aligned end of memory that nothing else uses while the child lives,
/// `pidfd` must be writable, and what `argument` points to must live until the child has left our memory.
#[inline(never)]
pub unsafe fn clone_with_stack(
    flags: usize,
    stack_top: *mut u8,
    pidfd: *mut i32,
    entry: extern "C" fn(usize) -> !,
    argument: usize,
) -> isize {
    let answer: isize;
    // SAFETY: the child keeps every register but x0 and sp; it leaves this block only by branching to
    // `entry`, on its own aligned stack.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x6",
            "blr x5",
            "brk 1",
            "2:",
            in("x8") nr::CLONE,
            inlateout("x0") flags as isize => answer,
            in("x1") stack_top,
            in("x2") pidfd,
            in("x3") 0_usize,
            in("x4") 0_usize,
            in("x5") entry,
            in("x6") argument,
            lateout("x30") _,
        );
    }
    answer
}

/// The entry point: the kernel jumps here with the stack pointer at `argc`, which the launcher ignores.
///
/// # Safety
/// Only the kernel may enter here, once.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!("mov x29, xzr", "mov x30, xzr", "bl {main}", "brk 1", main = sym crate::launcher_main)
}

/// Where a signal handler returns to (`SA_RESTORER`).
///
/// # Safety
/// Only the end of a signal handler may enter here: the stack must hold a signal frame.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal_return() -> ! {
    naked_asm!("mov x8, {number}", "svc 0", "brk 1", number = const nr::RT_SIGRETURN)
}

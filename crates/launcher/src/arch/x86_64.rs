//! x86-64: the `syscall` instruction, System V registers.
#![expect(
    unsafe_code,
    reason = "system calls and the program's entry are machine instructions"
)]

use core::arch::{asm, naked_asm};

/// System call numbers (asm/unistd_64.h).
pub mod nr {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const RT_SIGRETURN: usize = 15;
    pub const SCHED_YIELD: usize = 24;
    pub const GETPID: usize = 39;
    pub const SENDTO: usize = 44;
    pub const RECVMSG: usize = 47;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const WAIT4: usize = 61;
    pub const FCHDIR: usize = 81;
    pub const SETPGID: usize = 109;
    pub const GETPPID: usize = 110;
    pub const SETSID: usize = 112;
    pub const PRCTL: usize = 157;
    pub const SCHED_SETAFFINITY: usize = 203;
    pub const SCHED_GETAFFINITY: usize = 204;
    pub const GETDENTS64: usize = 217;
    pub const CLOCK_GETTIME: usize = 228;
    pub const EXIT_GROUP: usize = 231;
    pub const WAITID: usize = 247;
    pub const OPENAT: usize = 257;
    pub const PPOLL: usize = 271;
    pub const DUP3: usize = 292;
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
    // SAFETY: the instruction clobbers rcx and r11 besides its result; the caller vouches for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
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
    // SAFETY: the child keeps every register but rax, rcx, r11 and rsp; it leaves this block only by calling
    // `entry`, on its own aligned stack. r8 (the TLS argument) is ignored by the kernel without CLONE_SETTLS.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r8",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") nr::CLONE as isize => answer,
            in("rdi") flags,
            in("rsi") stack_top,
            in("rdx") pidfd,
            in("r10") 0_usize,
            in("r8") argument,
            in("r9") entry,
            lateout("rcx") _,
            lateout("r11") _,
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
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {main}", "ud2", main = sym crate::launcher_main)
}

/// Where a signal handler returns to (`SA_RESTORER`).
///
/// # Safety
/// Only the end of a signal handler may enter here: the stack must hold a signal frame.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal_return() -> ! {
    naked_asm!("mov eax, {number}", "syscall", "ud2", number = const nr::RT_SIGRETURN)
}

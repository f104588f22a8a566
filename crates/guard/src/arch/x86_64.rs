//! x86-64: the `syscall` instruction, System V registers.
#![expect(
    unsafe_code,
    reason = "system calls and the program's entry are machine instructions"
)]

use core::arch::{asm, naked_asm};

use crate::layout::{NOTICE_AFTER_ENTRY, NOTICE_BYTES, STUB_BYTES, STUBS, STUBS_AFTER_ENTRY};

/// System call numbers (asm/unistd_64.h).
pub mod nr {
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const WRITEV: usize = 20;
    pub const EXECVE: usize = 59;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
    pub const NEWFSTATAT: usize = 262;
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

/// Tells debuggers that the list of libraries is complete: calls the empty function that they watch.
pub fn notice() {
    // SAFETY: the function behind the stubs does nothing and returns.
    unsafe { asm!("call underhood_notice", clobber_abi("C")) };
}

/// The entry point, and behind it the stubs and the function that debuggers watch.
///
/// The kernel jumps here with the stack pointer at `argc`. The loader must find the same stack: it reads the arguments from
/// there, and hands rdx on as a function to call at the end of the process, where 0 means none.
///
/// Stub N calls `apply(N)`. It begins with `endbr64`, because it is reached by an indirect call.
///
/// # Safety
/// Only the kernel may enter here, once.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        "0:",
        "xorl %ebp, %ebp",
        "movq %rsp, %rbx",
        "movq %rsp, %rdi",
        "andq $-16, %rsp",
        "call {start}",
        "movq %rbx, %rsp",
        "xorl %ebx, %ebx",
        "xorl %edx, %edx",
        "jmp *%rax",
        ".skip {stubs_after_entry} - (. - 0b), 0xcc",
        ".set underhood_stub, 0",
        ".rept {stubs}",
        "1:",
        "endbr64",
        "movl $underhood_stub, %edi",
        ".set underhood_stub, underhood_stub + 1",
        "jmp {apply}",
        ".skip {stub_bytes} - (. - 1b), 0xcc",
        ".endr",
        ".globl underhood_notice",
        ".hidden underhood_notice",
        ".skip {notice_after_entry} - (. - 0b), 0xcc",
        "underhood_notice:",
        "2:",
        "endbr64",
        "ret",
        ".skip {notice_bytes} - (. - 2b), 0xcc",
        start = sym crate::start,
        apply = sym crate::apply::apply,
        stubs_after_entry = const STUBS_AFTER_ENTRY,
        stub_bytes = const STUB_BYTES,
        stubs = const STUBS,
        notice_after_entry = const NOTICE_AFTER_ENTRY,
        notice_bytes = const NOTICE_BYTES,
        options(att_syntax),
    )
}

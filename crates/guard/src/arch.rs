//! The machine's side of the guard: how a system call is made, how the program is entered and left, and the stubs.
//!
//! One file an architecture. Each provides the same four things:
//!
//! - `nr`: the numbers of the system calls that [`crate::sys`] uses;
//! - `syscall`: six arguments in, the kernel's raw answer out (`-4095..0` is an errno);
//! - `notice`: calls the empty function that debuggers watch;
//! - `_start`: the entry point, which calls `start` with the initial stack pointer and jumps to the address that it returns,
//!   with the stack as it was; and, [`STUBS_AFTER_ENTRY`](crate::layout::STUBS_AFTER_ENTRY) bytes behind it, the stubs
//!   and that function.

#[cfg(target_arch = "x86_64")]
#[path = "arch/x86_64.rs"]
mod imp;

pub use imp::{notice, nr, syscall};

//! The machine's side of the launcher: how a system call is made, how the program is entered and how a
//! child is made that shares our memory.
//!
//! One file an architecture. Each provides the same four things:
//!
//! - `nr`: the numbers of the system calls that [`crate::sys`] uses;
//! - `syscall`: six arguments in, the kernel's raw answer out (`-4095..0` is an errno);
//! - `_start`: the entry point, which aligns the stack and calls `launcher_main`;
//! - `clone_with_stack`: `clone(2)` whose child starts in a function of its own on a stack of its own.

#[cfg(target_arch = "aarch64")]
#[path = "arch/aarch64.rs"]
mod imp;
#[cfg(target_arch = "x86_64")]
#[path = "arch/x86_64.rs"]
mod imp;

pub use imp::{clone_with_stack, nr, signal_return, syscall};

//! `libunderhood_selector.so`: preload it everywhere, and `UNDERHOOD_HEAP_SELECT` decides, program by program, which
//! heap each one gets.
//!
//! The heaps are all inside. Every exported function jumps through a table; the table begins with functions that
//! make the choice, write the chosen heap's functions over themselves, and lock the page. So the plain path has no
//! branch, and nothing is decided twice, whatever the program does to its environment later.
//!
//! The library is a guest in every process of a person or of a machine, so it never writes a word, and whatever goes
//! wrong (a fault in the rules, no `/proc`, a setuid program) ends in the system's heap.
//!
//! | file | concept |
//! |---|---|
//! | `table` | the jump table and its first call |
//! | `choice` | from the rules and the program to a heap |
//! | `sources` | where the rules come from: the environment, or the machine's file |
//! | `raw` | system calls without the C library |
//!
//! What the choice cannot reach: a program that calls `__libc_malloc` directly (only glibc has that name, and the
//! system's heap is forwarded to by it), and a program started by naming the dynamic loader, which is the program
//! that the kernel reports.
#![no_std]
#![expect(
    unsafe_code,
    reason = "reads the process's first stack page and patches a table of functions"
)]

mod choice;
mod raw;
mod sources;
mod table;

surface::export_heap!(crate::table::Chosen);

//! The surface of a replaced `malloc`.
//!
//! A program has no single door to its heap. C code comes through `malloc` and a dozen relatives, C++ through
//! twenty forms of `new` and `delete`, old programs through `cfree`, tools through `malloc_usable_size`. A
//! preloaded library that leaves one door to the old heap mixes the two, and the first block that is allocated by
//! one and freed by the other ends the program. So every shim exports *all* of them, and this crate is that list,
//! written once: a heap implements [`Heap`], and [`export_heap!`] exports the surface for it.
//!
//! | file | concept |
//! |---|---|
//! | `heap` | the contract of a heap: what an adapter must implement |
//! | `entry` | what the C functions mean (zero sizes, overflow, alignments), on top of the contract |
//! | `answers` | `mallinfo`, `malloc_info` and their kin, answered for the heap that is really in use |
//! | `cxx` | the C++ operators |
//! | `errno`, `keep_errno` | the rule that `free` never changes `errno` |
//! | `export` | the exported symbols themselves |
//!
//! The meaning of every function is glibc's, because that is the heap the program was tested with. Sources: the
//! glibc manual, "Replacing malloc"; malloc(3), posix_memalign(3), mallinfo(3), malloc_info(3), malloc_trim(3).
#![no_std]
#![expect(unsafe_code, reason = "this is the boundary between C callers and the heaps")]

pub mod answers;
pub mod cxx;
pub mod entry;
pub mod errno;
mod export;
mod heap;
pub mod keep_errno;

pub use heap::Heap;
pub use heap::Hot;
pub use heap::Usage;

/// Defines hidden symbols that jump to Rust functions: how C code inside the library reaches them.
///
/// A `#[no_mangle]` function would become part of the library's public symbols, where it could replace, or be
/// replaced by, a symbol of the program.
#[macro_export]
macro_rules! hidden_symbols {
    ($($symbol:literal => $function:path;)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            core::arch::global_asm!(
                concat!(".globl ", $symbol),
                concat!(".hidden ", $symbol),
                concat!(".type ", $symbol, ", @function"),
                concat!($symbol, ":"),
                "jmp {function}",
                function = sym $function,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::global_asm!(
                concat!(".globl ", $symbol),
                concat!(".hidden ", $symbol),
                concat!(".type ", $symbol, ", %function"),
                concat!($symbol, ":"),
                "b {function}",
                function = sym $function,
            );
        )*
    };
}

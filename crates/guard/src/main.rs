//! The guard: the interpreter of a bound copy.
//!
//! A bound copy of a program has its libraries at addresses that were chosen beforehand, and their symbols bound in the
//! files. That is right only as long as the same loader would load the same files in the same way. So the program
//! header that names the interpreter leads here, not to the loader. This program runs first, on the initial stack:
//!
//! - [`checks`] asks whether everything is as it was: the files and where the loader looked in vain before it found them,
//!   variables ([`environment`]), the processor, the addresses;
//! - if so, [`loader`] maps the real loader, and we jump to it with the stack as the kernel made it, so that it sees what
//!   it would have seen without us;
//! - if not, [`fallback`] executes the original program: slower, and right.
//!
//! Later the loader calls [`apply`], once an object, for the addresses that are known only then: those of the libraries
//! that are not moved, [`link_map`].
//!
//! What to check and to write is in a [`plan`], which is appended to this file when it is filled ([`layout`]). The program
//! is needed at any address, and nobody relocates it: it must not hold a pointer in its data. It has neither
//! libc nor a heap, opens one file, and closes it.
#![no_std]
#![no_main]
#![no_builtins]

mod apply;
mod arch;
mod checks;
mod environment;
mod fallback;
mod layout;
mod link_map;
mod loader;
#[path = "../../launcher/src/memory.rs"]
mod memory;
mod plan;
mod stack;
mod start;
mod sys;
mod text;

use start::start;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::exit(127)
}

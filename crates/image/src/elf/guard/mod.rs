//! Guards: the interpreters of bound copies, filled for one program.
//!
//! A bound copy is right as long as the same loader would load the same files in the same way. Its interpreter checks that at
//! every start, then hands over to the real loader, or falls back to the original program. It comes as a template, a
//! program that is the same for all; [`fill`] moves it to its address and appends a [`Plan`]: what to check,
//! where to fall back to, and which addresses to write once the loader has put the libraries of libc somewhere.
//!
//! The objects whose slots are to be written each get one relocation: `R_X86_64_IRELATIVE`, with the address of the guard's
//! scratch word as its place and the address of their stub as its function. The loader calls the stub when it relocates the
//! object. Both are known from the template and the base alone ([`places`]), before there is anything to be identified.

mod encode;
mod fill;
#[path = "../../../../guard/src/layout.rs"]
mod layout;
mod loader;
mod plan;
mod sections;
mod template;

pub use fill::{Filled, Places, fill, places};
pub use loader::Loader;
pub use plan::{Fill, Floating, Identity, Plan, Renamed};

/// Bytes of a page on x86-64.
const PAGE: u64 = 4096;

/// Why a guard cannot be made. Reads after "failed to ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfillable {
    /// The template is not one, or damaged.
    #[error("use the template of the guard: {0}")]
    Template(&'static str),
    /// The address is not on a page, or the guard would not end within the lower half of the address space.
    #[error("place the guard at {0:#x}")]
    Base(u64),
    /// The loader of the program is not as the guard could map it.
    #[error("map the loader: {0}")]
    Loader(&'static str),
    /// A path or name holds a zero byte.
    #[error("write {0:?} into the plan of the guard: it has a zero byte")]
    Text(String),
    /// There is more of something than a guard has room for.
    #[error("put {count} {what} into the plan of the guard, which has room for {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there can be.
        most: usize,
    },
    /// A fill contradicts the rest of the plan.
    #[error("fill the slot at {slot:#x}: {why}")]
    Fill {
        /// The slot's address.
        slot: u64,
        /// What is wrong with it.
        why: &'static str,
    },
}

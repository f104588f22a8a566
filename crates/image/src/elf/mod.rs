//! ELF files as the dynamic loader reads them, and what the loader will do with them.
//!
//! A loader never looks at sections: it goes by the program headers and the dynamic table that they point to, so a stripped
//! file is as good as any. [`view`] reads these; [`facts`] says in numbers what one file asks of the loader. [`search`] and
//! [`closure`] find the libraries as glibc's `ld.so` would, place by place; [`lookup`] resolves every symbol as it would, step
//! by step; [`estimate`] turns the counts into time. [`verify`] proves a moved copy equal to its original, in the file and in memory.
//!
//! The model is the loader of glibc 2.36 (`elf/dl-load.c`, `dl-cache.c`, `dl-deps.c`, `dl-sort-maps.c`, `dl-lookup.c`), whose
//! tests are `LD_DEBUG=libs`, `files` and `bindings`. Not modelled: `LD_AUDIT` and `DT_AUDIT`, filters (`DT_FILTER`,
//! `DT_AUXILIARY`; reported in [`closure::Closure::notes`]), and `dlopen`, which no file tells.
//!
//! Files may be hostile: nothing panics, and work and memory stay proportional to the size of the files ([`Budget`]).

pub mod bind;
pub mod cache;
pub mod closure;
pub mod diagnostics;
mod dynamic;
pub mod estimate;
pub mod facts;
pub mod guard;
mod hash;
mod loading;
pub mod lookup;
mod matching;
pub mod moving;
mod order;
pub mod promises;
mod rehash;
pub mod relocations;
pub mod search;
pub mod symbols;
mod tokens;
pub mod verify;
mod versions;
pub mod view;

pub use view::{Image, Kind, Machine};

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is of another format.
    #[error("it is not an ELF file")]
    NotElf,
    /// It is for 32-bit processors or processes.
    #[error("it is a 32-bit file; 64-bit files are read")]
    Bits32,
    /// Its bytes are in the other order.
    #[error("it is a big-endian file; little-endian files (x86-64, AArch64) are read")]
    BigEndian,
    /// It is for another processor.
    #[error("it is for another processor (machine number {0}); files for x86-64 and AArch64 are read")]
    Machine(u16),
    /// An object file or a core dump.
    #[error("it is neither a program nor a shared library (an object file or a core dump)")]
    NotLoadable,
    /// It contradicts itself.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// How much more a file may make us do. A sound file has each entry once; a hostile one can point at the same table or
/// the same name from everywhere.
#[derive(Clone, Debug)]
pub struct Budget(u64);

impl Budget {
    /// For work on so many bytes of files.
    #[must_use]
    pub const fn of(bytes: u64) -> Self {
        Self(bytes.saturating_mul(64).saturating_add(1 << 16))
    }

    /// Pays for some steps, each a table entry or a character of a name.
    ///
    /// # Errors
    /// When the budget is exhausted: no sound file of this size gives so much work.
    pub fn spend(&mut self, steps: u64) -> Result<(), Unreadable> {
        self.0 = self
            .0
            .checked_sub(steps)
            .ok_or(Unreadable::Damaged("its tables overlap"))?;
        Ok(())
    }
}

//! The plan, read where the kernel mapped it.
//!
//! Nothing is copied. Every access is checked against the plan's own length, so that a damaged plan ends with a message and
//! not with a crash; a file that was cut never gets here, because its program headers stand at its end.
#![expect(
    unsafe_code,
    reason = "the plan lies behind an address that was written into the file"
)]

use core::ptr::with_exposed_provenance;
use core::sync::atomic::AtomicU64;

use crate::layout::{
    CELL_MAGIC, CELL_PLAN, CELL_SCRATCH, END, FORMAT, HEADER_WORDS, IDENTITY_WORDS, LENGTH, LOADER_IDENTITY,
    MAGIC, Table,
};
use crate::sys;
use crate::text::Text;

/// What is written when the guard is filled, and what `IRELATIVE` relocations write to.
#[repr(C)]
struct Cell {
    magic: [u8; 16],
    plan: AtomicU64,
    scratch: AtomicU64,
}

// The writer of plans goes by these places.
const _: () = assert!(core::mem::offset_of!(Cell, plan) == CELL_PLAN);
const _: () = assert!(core::mem::offset_of!(Cell, scratch) == CELL_SCRATCH);

#[used]
static CELL: Cell = Cell {
    magic: CELL_MAGIC,
    plan: AtomicU64::new(0),
    scratch: AtomicU64::new(0),
};

/// A plan whose format, version, length and end are right.
#[derive(Clone, Copy)]
pub struct Plan {
    words: &'static [u64],
}

impl Plan {
    /// The plan of this guard.
    pub fn find() -> Self {
        // SAFETY: the cell is live. The value was changed in the file, which the compiler must not know better.
        let address = unsafe { (&raw const CELL.plan).cast::<u64>().read_volatile() };
        let begin = with_exposed_provenance::<u64>(address as usize);
        if begin.is_null() {
            sys::complain([b"underhood: the guard of a bound copy is no program; it has no plan\n"]);
            sys::exit(127)
        }
        // SAFETY: a filled guard has a header at this address.
        let words = unsafe { core::slice::from_raw_parts(begin, HEADER_WORDS) };
        let header = Self { words };
        let length = header.word(LENGTH) as usize / 8;
        if header.word(FORMAT) != MAGIC || length < HEADER_WORDS {
            damaged()
        }
        // SAFETY: and as many words as the header says.
        let words = unsafe { core::slice::from_raw_parts(begin, length) };
        if words.last() != Some(&END) {
            damaged()
        }
        Self { words }
    }

    /// A word of the header.
    pub fn word(&self, index: usize) -> u64 {
        match self.words.get(index) {
            Some(word) => *word,
            None => damaged(),
        }
    }

    /// The identity of the loader.
    pub fn loader_identity(&self) -> sys::Identity {
        let words = self.words.get(LOADER_IDENTITY..);
        match words.and_then(|words| words.first_chunk::<IDENTITY_WORDS>()) {
            Some(identity) => *identity,
            None => damaged(),
        }
    }

    /// The rows of a table.
    pub fn table<const WORDS: usize>(&self, table: Table<WORDS>) -> &'static [[u64; WORDS]] {
        let first = self.word(table.at()) as usize / 8;
        let rows = self.word(table.at() + 1) as usize;
        let words = rows
            .checked_mul(WORDS)
            .and_then(|count| self.words.get(first..)?.get(..count));
        match words {
            Some(words) => words.as_chunks().0,
            None => damaged(),
        }
    }

    /// Some rows of a table.
    pub fn rows<const WORDS: usize>(
        &self,
        table: Table<WORDS>,
        first: u64,
        count: u64,
    ) -> &'static [[u64; WORDS]] {
        let rows = self.table(table).get(first as usize..);
        match rows.and_then(|rows| rows.get(..count as usize)) {
            Some(rows) => rows,
            None => damaged(),
        }
    }

    /// The text that a word names.
    pub fn text(&self, name: u64) -> Text {
        let (offset, length) = (name as u32 as usize, (name >> 32) as usize);
        // Both are below 2^32, so the sum is small.
        let end = offset + length;
        if end >= self.words.len() * 8 {
            damaged()
        }
        let begin = self.words.as_ptr().cast::<u8>().wrapping_add(offset);
        // SAFETY: the end lies within the plan, as was just seen.
        if unsafe { begin.wrapping_add(length).read() } != 0 {
            damaged()
        }
        // SAFETY: there is a zero at the end at the latest, and nobody writes to a plan.
        unsafe { Text::new(begin) }
    }
}

/// Ends the process: what is to be done is not known, not even what to fall back to.
pub fn damaged() -> ! {
    sys::complain([b"underhood: the guard of a bound copy is damaged; bind the program again\n"]);
    sys::exit(127)
}

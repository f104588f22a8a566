//! How a plan lies in memory, and how a filled guard differs from its template.
//!
//! Two parties compile this very file: the image crate, which writes plans and fills guards, and the guard, which reads its
//! plan where the kernel mapped it. Everything is a little-endian word of 64 bits; offsets count bytes from the begin of the
//! plan. What the guard needs at every start comes first, the fills last:
//!
//! ```text
//! header     [`HEADER_WORDS`] words: single values, then for each table its offset and its number of rows
//! tables     rows of words, of a fixed length in each table
//! texts      bytes, each text ended by zero; a word names one by its offset (low half) and its length (high half)
//! fills      the rows of [`FILLS`]
//! END        one word, so that a plan that was cut is recognised
//! ```

/// Marks the cell in the data of a template; 16 bytes that appear once in it. Behind it come two words: the address of the
/// plan, which is written when the guard is filled, and the scratch word that `IRELATIVE` relocations overwrite.
pub const CELL_MAGIC: [u8; 16] = *b"underhood guard\n";
/// The place of the plan's address in the cell.
pub const CELL_PLAN: usize = 16;
/// The place of the scratch word in the cell.
pub const CELL_SCRATCH: usize = 24;

/// The stubs lie so many bytes behind the entry point.
pub const STUBS_AFTER_ENTRY: usize = 64;
/// Size of a stub in bytes.
pub const STUB_BYTES: usize = 16;
/// How many stubs there are: so many objects can have fills.
pub const STUBS: usize = 1024;

/// Behind the stubs is an empty function that is called once all libraries are known: debuggers look for such a one in the
/// interpreter of a program and read the list of libraries when it is called.
pub const NOTICE_AFTER_ENTRY: usize = STUBS_AFTER_ENTRY + STUBS * STUB_BYTES;
/// So many bytes are reserved for it.
pub const NOTICE_BYTES: usize = 8;

/// So many floating objects can be in a plan.
pub const MOST_FLOATING: usize = 64;

/// The first word of a plan: its format and its version; change the last digit with any change to this file.
pub const MAGIC: u64 = 0x756e_6465_7267_0001;
/// The last word of a plan.
pub const END: u64 = 0x6467_7265_646e_750a;

/// Header: [`MAGIC`].
pub const FORMAT: usize = 0;
/// Header: bytes of the whole plan.
pub const LENGTH: usize = 1;
/// Header: text, the path of the original program.
pub const ORIGINAL: usize = 2;
/// Header: text, the path of the loader.
pub const LOADER: usize = 3;
/// Header: the loader's identity, [`IDENTITY_WORDS`] words.
pub const LOADER_IDENTITY: usize = 4;
/// Header: the loader's entry point, from its load address.
pub const LOADER_ENTRY: usize = 9;
/// Header: bytes of address space that the loader takes.
pub const LOADER_SPAN: usize = 10;
/// Header: `AT_HWCAP`.
pub const HWCAP: usize = 11;
/// Header: `AT_HWCAP2`.
pub const HWCAP2: usize = 12;
/// Header: address of the value of `DT_DEBUG` in the program.
pub const DEBUG: usize = 13;

/// An identity is: device, inode, size, seconds and nanoseconds of the last change of content.
pub const IDENTITY_WORDS: usize = 5;

/// A table of a plan: where the header tells its place, and how long its rows are.
#[derive(Clone, Copy)]
pub struct Table<const WORDS: usize> {
    /// Its number; the header holds offset and number of rows at [`Table::at`].
    number: usize,
}

impl<const WORDS: usize> Table<WORDS> {
    /// The word of the header with its offset; the number of its rows is the next.
    pub const fn at(self) -> usize {
        14 + 2 * self.number
    }
}

/// Pieces of the loader to map: offset from the load address, bytes, protection, offset in the file or [`ANONYMOUS`].
pub const PIECES: Table<4> = Table { number: 0 };
/// Parts of the loader to zero: offset from the load address, bytes.
pub const ZEROES: Table<2> = Table { number: 1 };
/// Files that must be as they were: text, identity.
pub const WATCHED: Table<6> = Table { number: 2 };
/// Paths where nothing must be: text.
pub const ABSENT: Table<1> = Table { number: 3 };
/// Address ranges that must be free: begin, bytes.
pub const RANGES: Table<2> = Table { number: 4 };
/// Floating objects: address of the dynamic table from the load address, first row of [`NAMES`], number of rows.
pub const FLOATING: Table<3> = Table { number: 5 };
/// Names of floating objects: [`hash`], text.
pub const NAMES: Table<2> = Table { number: 6 };
/// Objects to rename: [`hash`] of the copy's path, the path, the original's path, then device and inode of the copy and of
/// the original.
pub const RENAMED: Table<7> = Table { number: 7 };
/// Objects with fills, in the order of the stubs: first row of [`FILLS`], number of rows.
pub const OBJECTS: Table<2> = Table { number: 8 };
/// Fills: slot, floating object and [`IFUNC_BIT`] in one word, from the lowest bit on ([`SLOT_BITS`]), and the offset from the load address of the floating object.
pub const FILLS: Table<2> = Table { number: 9 };

/// Number of words of the header.
pub const HEADER_WORDS: usize = 14 + 2 * 10;

/// In place of an offset in the file: zeroed memory.
pub const ANONYMOUS: u64 = u64::MAX;

/// So many bits of a target are the address of the slot.
pub const SLOT_BITS: u32 = 48;
/// The bit of a target that asks for the resolver at the address to be called.
pub const IFUNC_BIT: u32 = 63;

/// The hash of a name, by which most comparisons of texts are saved: FNV-1a.
pub fn hash(text: impl Iterator<Item = u8>) -> u64 {
    text.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

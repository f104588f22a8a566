//! Texts of C: a pointer to bytes that end with zero.
#![expect(
    unsafe_code,
    reason = "a pointer without a length, as the kernel hands it over"
)]

/// A text that ends with a zero byte and lives as long as the process.
#[derive(Clone, Copy)]
pub struct Text(*const u8);

impl Text {
    /// A text in memory.
    ///
    /// # Safety
    /// From `pointer` to the first zero byte there must be readable memory, that stays and that nobody changes.
    pub const unsafe fn new(pointer: *const u8) -> Self {
        Self(pointer)
    }

    /// Where it lies.
    pub fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// Its bytes, without the zero.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        let mut next = self.0;
        core::iter::from_fn(move || {
            // SAFETY: no byte behind the zero is asked for, and up to it all are readable.
            let byte = unsafe { next.read() };
            if byte == 0 {
                return None;
            }
            next = next.wrapping_add(1);
            Some(byte)
        })
    }

    /// Its bytes, without the zero, as a slice.
    pub fn as_slice(self) -> &'static [u8] {
        let length = self.bytes().count();
        // SAFETY: so many bytes were just read, and they stay.
        unsafe { core::slice::from_raw_parts(self.0, length) }
    }

    /// What follows a prefix; nothing when it begins otherwise.
    pub fn after(self, prefix: &[u8]) -> Option<Self> {
        let mut bytes = self.bytes();
        if prefix.iter().all(|byte| bytes.next() == Some(*byte)) {
            Some(Self(self.0.wrapping_add(prefix.len())))
        } else {
            None
        }
    }

    /// Whether it consists of the same bytes.
    pub fn is(self, other: Self) -> bool {
        self.bytes().eq(other.bytes())
    }

    /// Whether some bytes appear in it.
    pub fn contains(self, part: &[u8]) -> bool {
        let mut rest = self;
        loop {
            if rest.after(part).is_some() {
                return true;
            }
            if rest.bytes().next().is_none() {
                return false;
            }
            rest = Self(rest.0.wrapping_add(1));
        }
    }
}

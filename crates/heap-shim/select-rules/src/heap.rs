//! The heaps that a rule can name.

/// A heap that the selector can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heap {
    /// The heap of the C library, as if nothing were preloaded.
    System,
    /// mimalloc.
    Mimalloc,
    /// jemalloc.
    Jemalloc,
    /// snmalloc.
    Snmalloc,
}

impl Heap {
    /// Every heap, in the order in which they are listed to people.
    pub const ALL: [Self; 4] = [Self::System, Self::Mimalloc, Self::Jemalloc, Self::Snmalloc];

    /// The name that a rule uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Mimalloc => "mimalloc",
            Self::Jemalloc => "jemalloc",
            Self::Snmalloc => "snmalloc",
        }
    }

    /// The heap of a name, exactly as written.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|heap| heap.name().as_bytes() == name)
    }
}

//! What is carried: a name, the bytes, and what must be known before they are used.

/// The role of a carried file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program that runs one trial.
    Worker,
    /// The static program that starts commands (Linux).
    Launcher,
    /// The template of the interpreters of bound copies (Linux with glibc on x86-64). It is not unpacked but filled.
    Guard,
    /// A preloadable library that replaces the heap (Linux with glibc).
    Heap,
    /// The preloadable library that chooses a heap for each program (Linux with glibc).
    Selector,
}

/// One carried file.
#[derive(Clone, Copy, Debug)]
pub struct Artifact {
    /// `worker`, `launcher`, `guard`, `selector`, or the name of the heap, such as `mimalloc`.
    pub name: &'static str,
    /// Its role.
    pub kind: Kind,
    /// The name it gets on disk.
    pub file_name: &'static str,
    /// SHA-256 of the bytes, in 64 lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// The newest glibc symbol version that it asks for, such as `(2, 34)`; None when it asks for none.
    /// An older glibc refuses to load it.
    pub glibc_needed: Option<(u32, u32)>,
    /// The file itself.
    pub bytes: &'static [u8],
}

static ARTIFACTS: &[Artifact] = include!(concat!(env!("OUT_DIR"), "/artifacts.rs"));

/// Everything that this binary carries. What the target has no use for is absent.
pub fn artifacts() -> &'static [Artifact] {
    ARTIFACTS
}

/// The carried file with this name.
pub fn find(name: &str) -> Option<&'static Artifact> {
    ARTIFACTS.iter().find(|artifact| artifact.name == name)
}

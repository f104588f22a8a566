//! What a guard is told.

use super::Loader;

/// What tells one version of a file from another, as `stat(2)` gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The file system (`st_dev`).
    pub device: u64,
    /// The file in it (`st_ino`).
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last changed (`st_mtim`): seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
}

/// Everything that a guard checks and does. Addresses are those of the running program; paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The original program: what is executed when something is not as it was, and what the program is told that it is.
    pub original: String,
    /// The real loader.
    pub loader: Loader,
    /// Files that must be as they were; the loader need not be among them. Links are followed.
    pub watched: Vec<(String, Identity)>,
    /// Paths where nothing must be.
    pub absent: Vec<String>,
    /// Address ranges where nothing must be mapped when the guard starts: begin, and length in bytes.
    pub ranges: Vec<(u64, u64)>,
    /// What the kernel says of the processor: `AT_HWCAP` and `AT_HWCAP2`.
    pub hwcap: (u64, u64),
    /// Where the value of the program's `DT_DEBUG` entry is. Looked at only when there are fills.
    pub debug: u64,
    /// The objects whose addresses are known only when they are loaded. Looked for only when there are fills.
    pub floating: Vec<Floating>,
    /// Copies that are to pass for their originals. Done only when there are fills.
    pub renamed: Vec<Renamed>,
    /// For each object with fills, in the order of the stubs.
    pub fills: Vec<Vec<Fill>>,
}

/// An object that is loaded at an address of the loader's or the kernel's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floating {
    /// The names under which the loader may have it in its list (`l_name`), the most probable first. The loader itself is there under
    /// the name of the program's interpreter.
    pub names: Vec<String>,
    /// The address of its dynamic table in the file (`p_vaddr` of `PT_DYNAMIC`).
    pub dynamic: u64,
}

/// A copy in the loader's list that is to be found there as its original.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renamed {
    /// The name of the copy in the list.
    pub copy: String,
    /// The name that the original would have there.
    pub original: String,
    /// The identities of the copy and of the original. None for an object for which the loader keeps none: itself.
    pub identities: Option<(Identity, Identity)>,
}

/// An address to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Where to: an address in the object, eight bytes.
    pub slot: u64,
    /// The floating object with the symbol: an index of [`Plan::floating`].
    pub floating: u32,
    /// The symbol's address in the file, plus the addend.
    pub value: u64,
    /// Whether that is a resolver (`STT_GNU_IFUNC`), which is called and tells the address.
    ///
    /// The resolvers of libc need libc to be relocated. The loader relocates an object after those that it needs, so the object
    /// must need the floating one, directly or through others.
    pub ifunc: bool,
}

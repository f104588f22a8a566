//! Link arguments of the preloadable heaps.
//!
//! A library that replaces `malloc` has demands on its linking that ordinary libraries have not, and every shim
//! has the same ones. Each shim's build script calls [`emit`], so that the reasons stand in one place.

/// Functions of the C library that the heaps' own code must not call directly.
///
/// GNU ld and lld turn a reference to `f` into one to `__wrap_f` and `__real_f` into `f`. The wrappers keep
/// `errno` unchanged when a release of memory fails inside `free` (crate `surface`, module `keep_errno`).
const KEEP_ERRNO: &[&str] = &["madvise", "munmap"];

/// Locks that the fork gate counts, and the naming of mappings (crate `heap-mimalloc`, modules `fork_gate` and
/// `quiet_prctl`).
const MIMALLOC: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "prctl",
];

/// Which wrappers a shim carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wraps {
    /// None: the shim forwards to the heap of the C library.
    Nothing,
    /// Releases of memory keep `errno`.
    KeepErrno,
    /// The same, and what mimalloc needs besides.
    KeepErrnoAndMimalloc,
}

/// Prints the link arguments of a shim to Cargo.
///
/// `-z nodelete`: code that others hold pointers into (a thread's exit handler, blocks) is never unmapped.
/// `-z now`: no lazy binding, so the first `free` inside a signal handler does not enter the dynamic loader.
/// `-z noexecstack`: objects assembled from C sources without the note would otherwise ask for one.
#[expect(
    clippy::print_stdout,
    reason = "a build script speaks to Cargo on its standard output"
)]
pub fn emit(wraps: Wraps) {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete,-z,now,-z,noexecstack");
    let (keep, more): (&[&str], &[&str]) = match wraps {
        Wraps::Nothing => (&[], &[]),
        Wraps::KeepErrno => (KEEP_ERRNO, &[]),
        Wraps::KeepErrnoAndMimalloc => (KEEP_ERRNO, MIMALLOC),
    };
    for name in keep.iter().chain(more) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap={name}");
    }
}

/// Makes the exported `malloc` and `free` second names of the heap's own functions, which have `prefix`.
///
/// Both are defined in Rust too, as jumps to the same functions: the compiler exports what it has defined and nothing
/// else. The linker then puts the address of the heap's function behind the name, and the jump, 0.2 ns each, is
/// gone.
#[expect(
    clippy::print_stdout,
    reason = "a build script speaks to Cargo on its standard output"
)]
pub fn enter_directly(prefix: &str) {
    for name in ["malloc", "free"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--defsym={name}={prefix}{name}");
    }
}

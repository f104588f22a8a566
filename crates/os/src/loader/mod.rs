//! Programs as the loader sees them: what a command really starts, and whether it can be given another heap.
//!
//! A heap is exchanged without source by having the dynamic loader put a library in front of the C library
//! (`LD_PRELOAD`, ld.so(8)). That works for a dynamic program of the same machine type and C library, and silently does
//! nothing, or harm, for all others: static programs, programs that run with somebody else's rights, programs that bring a
//! heap of their own. So a command is looked up as `execvp` would, followed through scripts to the program
//! behind them, and that file is read, never run, to find out.
//!
//! The files may be hostile: every read is bounded, every offset is checked, and nothing panics.
//!
//! Contract of the platform files: `find_in_path` answers as the system's own search; `privileges` looks at
//! the rights that a program gains; the lists (`tunables`, `mapped_libraries`, `installed_heaps`) are empty
//! where the system has no such thing.

mod bounded;
mod elf;
#[cfg(any(target_os = "linux", test))]
mod heaps;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;
#[cfg(any(target_os = "linux", test))]
mod ld_cache;
mod marks;
mod pe;
mod program;
mod script;
#[cfg(any(target_os = "linux", test))]
mod tunable_list;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

pub use program::{ClassifyError, Format, Libc, Linkage, Program};

/// A heap that is installed on this machine and can be preloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHeap {
    /// Its short name: `tcmalloc`, `tcmalloc_minimal`, `jemalloc`, `mimalloc`, `mimalloc-secure`, `tbbmalloc_proxy`,
    /// `hoard`, `rpmalloc`, `snmalloc`, `hardened_malloc`, `scudo`.
    pub name: String,
    /// The library to preload.
    pub path: PathBuf,
}

/// A setting of the C library that can be given in the environment (`GLIBC_TUNABLES`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Its full name, such as `glibc.malloc.arena_max`.
    pub name: String,
    /// The value in force, as the loader writes it; empty for texts. A zero may mean "chosen at run time".
    pub default: String,
    /// The smallest value that is accepted; `None` for texts. The loader ignores values outside.
    pub min: Option<u64>,
    /// The largest value that is accepted; `None` for texts.
    pub max: Option<u64>,
}

/// Why a command's name leads to no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// There is no such file (`ENOENT`, the shell's exit status 127).
    #[error("find the command {name:?}: no such file in {searched}; check the spelling, or give its path")]
    Missing {
        /// The name as given.
        name: String,
        /// Where was looked.
        searched: String,
    },
    /// There is such a file, but it cannot be run (`EACCES`, the shell's exit status 126).
    #[error("run {}: {why}", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        why: &'static str,
    },
}

/// Finds the file that a command's name stands for, as the system does when it starts the command.
///
/// `path` is the value of `PATH` that the command will have; `None` if it has none. Linux: as execvp(3), which goes on
/// searching after a file that may not be run, and remembers it. Windows: the folders of `PATH` with
/// the extensions `.com`, `.exe`, `.bat`, `.cmd`.
///
/// # Errors
/// [`NotFound`] tells apart "nothing there" and "there, but not to be run".
pub fn find_in_path(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, NotFound> {
    imp::find_in_path(program, path)
}

/// Reads a program's file, following scripts to their interpreter, and says what it is.
///
/// # Errors
/// [`ClassifyError`]: the file cannot be read (a program may be executable and unreadable), is damaged, or is a
/// script whose interpreter cannot be found.
pub fn classify(path: &Path) -> Result<Program, ClassifyError> {
    program::classify(path)
}

/// The environment variable that makes the loader put a library in front of all others; `None` where there is none.
pub fn preload_variable() -> Option<&'static str> {
    imp::PRELOAD_VARIABLE
}

/// The tunables of this machine's C library, as its own loader lists them (`ld.so --list-tunables`, since glibc 2.33);
/// they differ from release to release. Empty where there is no glibc or an older one.
pub fn tunables() -> Vec<Tunable> {
    imp::tunables()
}

/// The tunables that the loader `interpreter` knows (see [`Linkage::Dynamic`]); empty if it lists none.
pub fn tunables_of(interpreter: &Path) -> Vec<Tunable> {
    imp::tunables_of(interpreter)
}

/// What the loader `interpreter` says about itself (`ld.so --list-diagnostics`, since glibc 2.33): lines of names and values;
/// empty if it says nothing.
pub fn diagnostics_of(interpreter: &Path) -> String {
    imp::diagnostics_of(interpreter)
}

/// What the kernel tells every program about the processor (`AT_HWCAP` and `AT_HWCAP2`), by which the loader chooses folders
/// of libraries; zeros where it tells nothing.
pub fn hardware() -> (u64, u64) {
    imp::hardware()
}

/// The files whose code is mapped into a process: the program, its loader, its libraries. Proof that a preloaded library
/// is in effect.
///
/// # Errors
/// `NotFound` if there is no such process, `PermissionDenied` if it is somebody else's.
pub fn mapped_libraries(pid: u32) -> io::Result<Vec<PathBuf>> {
    imp::mapped_libraries(pid)
}

/// The preloadable heaps that are installed on this machine, one entry a name, from the loader's cache (ld.so.cache) and the
/// usual folders. Only libraries of this program's own machine type that really offer `malloc` and `free`.
pub fn installed_heaps() -> Vec<InstalledHeap> {
    imp::installed_heaps()
}

#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
mod tests_linux;

//! Which heap a program gets: from which library it imports `malloc` and its like.
//!
//! On Windows there is no order of search that a preloaded library could step into: an import names its library. So the C
//! runtime that a file was linked with decides, and what that runtime asks the system for.

use super::imports::Symbol;
use super::{File, Unreadable};

/// Functions that give memory, by the kind of heap that they are the way into.
const C: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "_aligned_malloc",
    "_aligned_free",
    "_malloc_base",
    "_free_base",
    "??2@YAPEAX_K@Z",
    "??3@YAXPEAX@Z",
    "??2@YAPAXI@Z",
    "??3@YAXPAX@Z",
    "_Znwy",
    "_Znwj",
    "_ZdlPv",
];
const SYSTEM: &[&str] = &[
    "HeapAlloc",
    "HeapReAlloc",
    "HeapFree",
    "HeapCreate",
    "GetProcessHeap",
    "RtlAllocateHeap",
    "RtlFreeHeap",
    "LocalAlloc",
    "GlobalAlloc",
    "CoTaskMemAlloc",
];

/// The C runtime that a file imports from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// `msvcrt.dll`, part of Windows.
    Msvcrt,
    /// The universal one, `ucrtbase.dll` or `api-ms-win-crt-*.dll`, part of Windows 10.
    Universal,
    /// One that came with a compiler, such as `msvcr120.dll`.
    OfCompiler,
    /// None: it was linked into the file, or there is none.
    None,
}

/// What was found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    /// The runtime.
    pub runtime: Runtime,
    /// Its library as it is written; of several the one that gives memory.
    pub library: Option<String>,
    /// Functions of C and C++ that give or take memory, with their libraries.
    pub of_language: Vec<(String, String)>,
    /// Functions of the system that do.
    pub of_system: Vec<(String, String)>,
}

/// Looks at what a file imports.
///
/// # Errors
/// When its imports cannot be read.
pub fn find(file: &File<'_>) -> Result<Heap, Unreadable> {
    let mut heap = Heap {
        runtime: Runtime::None,
        library: None,
        of_language: Vec::new(),
        of_system: Vec::new(),
    };
    for import in file.imports()? {
        let library = String::from_utf8_lossy(import.library).into_owned();
        let runtime = runtime(&library);
        let mut gives = false;
        for symbol in &import.symbols {
            let Symbol::Name { name, .. } = symbol else {
                continue;
            };
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            if C.contains(&name) {
                gives = true;
                heap.of_language.push((library.clone(), name.to_owned()));
            } else if SYSTEM.contains(&name) {
                heap.of_system.push((library.clone(), name.to_owned()));
            }
        }
        if runtime != Runtime::None && (gives || heap.library.is_none()) {
            heap.runtime = runtime;
            heap.library = Some(library);
        }
    }
    Ok(heap)
}

/// Which runtime a library is.
#[must_use]
pub fn runtime(library: &str) -> Runtime {
    let name = library.to_ascii_lowercase();
    let versioned = name
        .strip_prefix("msvcr")
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    if name == "msvcrt.dll" {
        Runtime::Msvcrt
    } else if name.starts_with("ucrtbase") || name.starts_with("api-ms-win-crt-") {
        Runtime::Universal
    } else if versioned || name == "msvcrtd.dll" || name == "crtdll.dll" {
        Runtime::OfCompiler
    } else {
        Runtime::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_told_by_their_names() {
        for (name, runtime_is) in [
            ("msvcrt.dll", Runtime::Msvcrt),
            ("MSVCRT.DLL", Runtime::Msvcrt),
            ("api-ms-win-crt-heap-l1-1-0.dll", Runtime::Universal),
            ("ucrtbased.dll", Runtime::Universal),
            ("MSVCR120.dll", Runtime::OfCompiler),
            ("msvcrypt.dll", Runtime::None),
            ("KERNEL32.dll", Runtime::None),
        ] {
            assert_eq!(runtime(name), runtime_is, "{name}");
        }
    }
}

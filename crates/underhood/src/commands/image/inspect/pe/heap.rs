//! Which heap a Windows program gets.

use image::pe::heap::{Runtime, find};
use image::pe::{File, Unreadable};
use record::format::inspect::pe::Heap;

/// What is true of all Windows programs.
const CHOICE: &str = "It cannot be given another from outside: on Windows an import names its library, so there is no order \
of search that a preloaded heap could come first in. Another heap has to be linked in, or its library named in the import table.";

/// Looks at the imports of a file.
pub fn of(file: &File<'_>) -> Result<Heap, Unreadable> {
    let found = find(file)?;
    let functions = |list: &[(String, String)]| {
        list.iter()
            .map(|(library, name)| format!("{library}!{name}"))
            .collect::<Vec<_>>()
    };
    let library = found.library.clone().unwrap_or_default();
    let kind = if file.headers.is_library() {
        "library"
    } else {
        "program"
    };
    let (runtime, reason) = match found.runtime {
        Runtime::Msvcrt => (
            "msvcrt",
            format!(
                "The {kind} uses {library}, the C runtime of Windows itself, whose malloc asks the process heap of the system (HeapAlloc)."
            ),
        ),
        Runtime::Universal => (
            "ucrt",
            format!(
                "The {kind} uses {library}, the universal C runtime, whose malloc asks the process heap of the system (HeapAlloc)."
            ),
        ),
        Runtime::OfCompiler => (
            "compiler",
            format!(
                "The {kind} uses {library}, the C runtime of its compiler, which has a heap of its own from the system (HeapCreate) or the process heap, by version."
            ),
        ),
        Runtime::None if !found.of_language.is_empty() => (
            "none",
            format!(
                "The {kind} imports no C runtime, and gets memory from another library: {}.",
                functions(&found.of_language).join(", ")
            ),
        ),
        Runtime::None if !found.of_system.is_empty() => (
            "none",
            format!(
                "The {kind} imports no C runtime: what it has of one is linked into it, and asks the system for memory."
            ),
        ),
        Runtime::None => (
            "none",
            format!("The {kind} imports neither a C runtime nor a function of the system that gives memory."),
        ),
    };
    Ok(Heap {
        runtime: runtime.to_owned(),
        library: found.library,
        of_language: functions(&found.of_language),
        of_system: functions(&found.of_system),
        reason,
        choice: CHOICE.to_owned(),
    })
}

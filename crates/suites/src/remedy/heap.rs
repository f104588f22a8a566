//! Another heap, by preloading a library that defines `malloc` and its relatives.
//!
//! The dynamic loader of the C library takes a function from the first library that has it, so a library that
//! `LD_PRELOAD` names wins over the C library (ld.so(8); "Replacing malloc" in the manual of glibc).

use std::path::{Path, PathBuf};

use measure::model::Support;
use os::loader::{Format, Libc, Linkage, Program, classify};
use os::process::{Observation, ObservedProcess};

use super::{Kind, Obstacle, Remedy};
use crate::Artifact;
use crate::heap::subject;

/// Heaps that show what a lock costs: for demonstrations, never proposed.
const LABORATORY: [&str; 3] = ["single_lock", "single_lock_spin", "single_lock_kernel"];

/// What cannot stand in a list of libraries: what separates them, and what the loader expands (ld.so(8), "Dynamic string
/// tokens").
const NOT_IN_LISTS: [char; 5] = [' ', ':', '$', '\t', '\n'];

/// The heaps worth trying: carried along, and installed ones that those are not copies of.
pub fn candidates(artifact: Artifact<'_>) -> Vec<Remedy> {
    let carried = subject::REMEDIES.iter().map(|name| carried(name, artifact));
    let installed = subject::installed().into_iter().filter(|(name, _)| {
        // A second build of a heap that is carried along, or one made to be slower and safer, costs the time of an arm.
        !name.ends_with("-installed") && !name.contains("-secure") && name != "hardened_malloc"
    });
    carried
        .chain(installed.map(|(name, path)| found(&name, path)))
        .collect()
}

/// The heap of a name, or the library of a path.
///
/// # Errors
/// When there is no such heap; the message lists those that there are.
pub fn named(name: &str, artifact: Artifact<'_>) -> Result<Remedy, String> {
    if os::loader::preload_variable().is_none() {
        let reason =
            "this system does not let another heap be put in front of a finished program's own; Linux does";
        return Ok(heap(name, String::new(), Err(reason.to_owned())));
    }
    if name.contains('/') {
        return library(Path::new(name));
    }
    if subject::REMEDIES.contains(&name) || LABORATORY.contains(&name) {
        return Ok(carried(name, artifact));
    }
    let installed = subject::installed();
    if let Some((name, path)) = installed.iter().find(|(installed, _)| installed == name) {
        return Ok(found(name, path.clone()));
    }
    let known: Vec<&str> = subject::REMEDIES
        .into_iter()
        .chain(installed.iter().map(|(name, _)| name.as_str()))
        .collect();
    Err(format!(
        "find the heap {name:?}; known here: {}; or give the path of a library, such as heap=/usr/lib/libheap.so",
        known.join(", ")
    ))
}

fn library(path: &Path) -> Result<Remedy, String> {
    let program = classify(path).map_err(|error| error.to_string())?;
    if program.format != Format::Elf || program.linkage != Linkage::Library {
        return Err(format!(
            "use {} as a heap: it is not a shared library",
            path.display()
        ));
    }
    let path = std::path::absolute(path).map_err(|error| format!("resolve {}: {error}", path.display()))?;
    Ok(found(&path.to_string_lossy(), path.clone()))
}

fn carried(name: &str, artifact: Artifact<'_>) -> Remedy {
    heap(name, format!("the heap {name}, carried along"), artifact(name))
}

fn found(name: &str, path: PathBuf) -> Remedy {
    heap(name, format!("the heap {}", path.display()), Ok(path))
}

fn heap(name: &str, summary: String, library: Result<PathBuf, String>) -> Remedy {
    let (library, available) = match library {
        Ok(library) => match unlistable(&library) {
            Some(reason) => (library, Support::No(reason)),
            None => (library, Support::Yes),
        },
        Err(reason) => (PathBuf::new(), Support::No(reason)),
    };
    Remedy {
        name: format!("heap={name}"),
        summary,
        kind: Kind::Heap { library },
        available,
    }
}

/// Why a library's path cannot be given to the loader in a list, if it cannot.
#[must_use]
pub fn unlistable(library: &Path) -> Option<String> {
    library.to_string_lossy().contains(NOT_IN_LISTS).then(|| {
        format!(
            "the path {} contains a blank, a colon or a dollar sign, which the loader takes for something else; \
             choose a folder without them (XDG_CACHE_HOME, XDG_DATA_HOME)",
            library.display()
        )
    })
}

/// Why the library would not serve this program, if it would not.
pub fn obstacle(library: &Path, program: &Program) -> Option<Obstacle> {
    let heap = match classify(library) {
        Ok(heap) => heap,
        Err(error) => {
            return Some(Obstacle::harmful(format!(
                "its library cannot be used: failed to {error}"
            )));
        }
    };
    unsuitable(&heap, program)
}

/// What keeps a program from being given another heap, whichever it is, as long as it is made for the program's processor and
/// for the GNU C library, as ours are.
#[must_use]
pub fn general_obstacle(program: &Program) -> Option<Obstacle> {
    let heap = Program {
        format: Format::Elf,
        linkage: Linkage::Library,
        libc: Libc::Glibc,
        own_heap: None,
        ..program.clone()
    };
    unsuitable(&heap, program)
}

/// As [`obstacle`], from what is known about the two files.
pub fn unsuitable(heap: &Program, program: &Program) -> Option<Obstacle> {
    match program.format {
        Format::Elf | Format::Script { .. } => {}
        Format::Pe => {
            return Some(Obstacle::harmless(
                "it is a program of Windows, which has no preloading",
            ));
        }
        Format::Other => {
            return Some(Obstacle::harmless(
                "it is neither a program nor a script that names its interpreter; begin the script with #!/bin/sh",
            ));
        }
    }
    match program.linkage {
        Linkage::Dynamic { .. } => {}
        Linkage::Static | Linkage::StaticPie => {
            let made = if program.go {
                "made by Go without the C library"
            } else {
                "statically linked"
            };
            return Some(Obstacle::harmless(format!(
                "the program is {made}: no loader runs that could preload anything; only a dynamically linked build can \
                 be given another heap"
            )));
        }
        Linkage::Library => return Some(Obstacle::harmless("it is a library, not a program")),
        Linkage::Unknown => {
            return Some(Obstacle::harmless(
                "it cannot be told how the program gets its libraries",
            ));
        }
    }
    if (program.bits, &program.machine) != (heap.bits, &heap.machine) {
        return Some(Obstacle::harmless(format!(
            "the program is for {} with {} bits, the heap for {} with {}; the loader would ignore it with a message in \
             every process",
            program.machine, program.bits, heap.machine, heap.bits
        )));
    }
    if program.secure {
        return Some(Obstacle::harmless(
            "the program runs with rights that you have not got (set-user-id, set-group-id or file capabilities), so the \
             loader ignores LD_PRELOAD; run it as the user whose rights it takes",
        ));
    }
    if program.libc != heap.libc {
        return Some(Obstacle::harmful(format!(
            "the program is made for {}, the heap for {}; a heap that is built for the program's C library would do",
            library_name(program.libc),
            library_name(heap.libc)
        )));
    }
    if program.go {
        return Some(Obstacle::harmless(
            "the program is made by Go, which manages its memory itself; GOGC and GOMEMLIMIT are its settings",
        ));
    }
    program.own_heap.as_ref().map(|own| {
        Obstacle::harmless(format!(
            "the program brings its own heap ({own}), which it would go on to use beside or instead of this one"
        ))
    })
}

fn library_name(libc: Libc) -> &'static str {
    match libc {
        Libc::Glibc => "the GNU C library",
        Libc::Musl => "musl",
        Libc::Unknown => "a C library that is not known here",
        Libc::None => "no C library",
    }
}

/// See [`Remedy::in_effect`]: the library is mapped.
pub fn in_effect(library: &Path, observation: &Observation) -> Result<(), String> {
    let heap = classify(library).map_err(|error| format!("failed to {error}"))?;
    // The kernel names files by their resolved path.
    let resolved = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    let mut proven = false;
    for process in observation.processes.iter().filter(|process| process.inspected) {
        if process.libraries.contains(&resolved) {
            proven = true;
        } else if reachable(&heap, process) {
            return Err(format!(
                "{} is not mapped in process {} ({}){}",
                library.display(),
                process.pid,
                process.exe.display(),
                lost_environment(library, process)
            ));
        }
    }
    if proven {
        Ok(())
    } else {
        Err(format!("{} was mapped in no process", library.display()))
    }
}

/// Whether the loader could have preloaded the library into the process.
fn reachable(heap: &Program, process: &ObservedProcess) -> bool {
    !process.secure
        && classify(&process.exe).is_ok_and(|program| {
            let dynamic = matches!(program.linkage, Linkage::Dynamic { .. });
            dynamic && (program.bits, &program.machine, program.libc) == (heap.bits, &heap.machine, heap.libc)
        })
}

fn lost_environment(library: &Path, process: &ObservedProcess) -> String {
    let variable = os::loader::preload_variable().unwrap_or("LD_PRELOAD");
    let list = process
        .variable(variable.as_ref())
        .unwrap_or_default()
        .to_string_lossy();
    if list.contains(&*library.to_string_lossy()) {
        "; the loader did not accept it".to_owned()
    } else {
        format!("; the process was started without {variable}")
    }
}

//! What the loader would be told: by its own build, by the system's files, and by this process's environment.

use std::path::Path;

use image::elf::Machine;
use image::elf::cache::Cache;
use image::elf::search::Loader;

use crate::exit::{COMMAND_FAILED, Failure};

/// The index of libraries.
pub const CACHE: &str = "/etc/ld.so.cache";
/// What the system loads before all others.
pub const PRELOAD: &str = "/etc/ld.so.preload";

/// The loader of programs that name none.
pub const fn usual_interpreter(machine: Machine) -> &'static str {
    match machine {
        Machine::X86_64 => "/lib64/ld-linux-x86-64.so.2",
        Machine::Aarch64 => "/lib/ld-linux-aarch64.so.1",
    }
}

/// Whose wishes the loader is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wishes {
    /// Those in this process's environment, as if the program were started from here.
    OfTheUser,
    /// Only the system's.
    OfTheSystem,
}

/// The loader for a program.
pub fn loader(
    program: &Path,
    machine: Machine,
    interpreter: &str,
    wishes: Wishes,
) -> Result<Loader, Failure> {
    let classified =
        os::loader::classify(program).map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    // A file may name any program as its loader; only the system's own is asked.
    let diagnostics = if interpreter == usual_interpreter(machine) {
        os::loader::diagnostics_of(Path::new(interpreter))
    } else {
        String::new()
    };
    let variable = |name: &str| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        value.filter(|_| wishes == Wishes::OfTheUser)
    };
    let names = |list: String| list.split([' ', ':']).map(str::to_owned).collect::<Vec<_>>();
    let mut loader = Loader {
        cache: Cache::new(std::fs::read(CACHE).unwrap_or_default()),
        library_path: variable("LD_LIBRARY_PATH"),
        preload: variable("LD_PRELOAD").map(names).unwrap_or_default(),
        system_preload: system_preload(&std::fs::read_to_string(PRELOAD).unwrap_or_default()),
        bind_now: variable("LD_BIND_NOW").is_some(),
        secure: classified.secure,
        ..Loader::of_diagnostics(machine, &diagnostics)
    };
    loader.preload.retain(|name| !name.is_empty());
    Ok(loader)
}

/// The names in the system's list: separated by white space or colons, comments from `#` to the end of the line.
fn system_preload(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split('#').next())
        .flat_map(|line| line.split([' ', '\t', ':']))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_list_has_comments() {
        assert_eq!(
            system_preload("# all\n/lib/a.so:libb.so # why\n\n\tlibc.so\n"),
            ["/lib/a.so", "libb.so", "libc.so"]
        );
    }
}

//! The heap rules for all programs: checked, and as the files that hold them.
//!
//! One library, the selector, goes into every program and chooses a heap by rules. For a user, systemd's environment.d gives
//! both to every session: the variables `LD_PRELOAD` and `UNDERHOOD_HEAP_SELECT`. For the machine, `/etc/ld.so.preload`
//! names the library, and it reads its rules from a file, because programs cleared of their environment start with it too.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::ledger::{Ours, Wanted};
use super::library::Library;
use super::places::{Places, Scope};
use super::quote;
use crate::exit::Failure;

/// The variable that the selector reads its rules from.
pub const VARIABLE: &str = "UNDERHOOD_HEAP_SELECT";

/// Rules that have been checked, in one line: `*=mimalloc;/usr/bin/buggy=system`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(pub String);

impl Rules {
    /// Reads what a person wrote.
    ///
    /// # Errors
    /// The first fault, with its place marked.
    pub fn read(text: &OsStr) -> Result<Self, Failure> {
        let Some(text) = text.to_str() else {
            return Err(Failure::usage(
                "read the heap rules: they are not UTF-8; name such a program with ? for each byte that is no text",
            ));
        };
        let rules = select_rules::parse(text.as_bytes()).map_err(|error| {
            let shown: String = text
                .chars()
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect();
            let column = text
                .get(..error.position)
                .map_or(error.position, |before| before.chars().count());
            Failure::usage(format!("{error}\n  {shown}\n  {}^", " ".repeat(column)))
        })?;
        let rules: Vec<String> = rules
            .flatten()
            .map(|rule| format!("{}={}", String::from_utf8_lossy(rule.pattern), rule.heap.name()))
            .collect();
        if rules.is_empty() {
            return Err(Failure::usage(
                "find a heap rule; write, for example, '*=mimalloc;/usr/bin/buggy=system'",
            ));
        }
        Ok(Self(rules.join(";")))
    }

    /// The heaps that they name, each once.
    pub fn heaps(&self) -> Vec<select_rules::Heap> {
        let mut heaps = Vec::new();
        for rule in select_rules::Rules::of(self.0.as_bytes()).flatten() {
            if !heaps.contains(&rule.heap) {
                heaps.push(rule.heap);
            }
        }
        heaps
    }
}

/// The rule that wins for a program, and its heap: `("*=mimalloc", "mimalloc")`. `None` when none applies, or the text
/// has a fault, in which case the selector obeys none.
pub fn winner(text: &[u8], program: &Path) -> Option<(String, &'static str)> {
    let rules = select_rules::parse(text).ok()?;
    let path = program.as_os_str().as_encoded_bytes();
    let rule = rules.flatten().filter(|rule| rule.applies_to(path)).last()?;
    Some((
        format!("{}={}", String::from_utf8_lossy(rule.pattern), rule.heap.name()),
        rule.heap.name(),
    ))
}

/// The files of a selection, the one that switches it on last.
pub fn files(places: &Places, rules: &Rules, library: &Library) -> Vec<Wanted> {
    match places.scope {
        Scope::User => vec![Wanted {
            path: places.environment_file(),
            ours: Ours::Whole(environment_file(rules, &library.path).into_bytes()),
            mode: 0o644,
        }],
        Scope::System => {
            let text = format!(
                "# Made by `underhood select`; take it back with `underhood select --undo --system`.\n{}\n",
                rules.0
            );
            vec![
                Wanted {
                    path: places.rules_file(),
                    ours: Ours::Whole(text.into_bytes()),
                    mode: 0o644,
                },
                Wanted {
                    path: places.preload_file(),
                    ours: Ours::Line(library.path.to_string_lossy().into_owned()),
                    mode: 0o644,
                },
            ]
        }
    }
}

fn environment_file(rules: &Rules, library: &Path) -> String {
    format!(
        "# Made by `underhood select`; take it back with `underhood select --undo --user`.\n\
         LD_PRELOAD=\"{}${{LD_PRELOAD:+:$LD_PRELOAD}}\"\n{VARIABLE}={}\n",
        library.display(),
        quote::environment_value(&rules.0)
    )
}

/// What a shell outside of systemd's sessions has to be told.
pub fn exports(rules: &Rules, library: &Path) -> String {
    let word = |text: &OsStr| String::from_utf8_lossy(&quote::shell(text)).into_owned();
    format!(
        "export LD_PRELOAD={}${{LD_PRELOAD:+:$LD_PRELOAD}}\nexport {VARIABLE}={}\n",
        word(library.as_os_str()),
        word(rules.0.as_ref())
    )
}

/// What such a choice cannot do well on this machine, for the person to know.
pub fn cautions(places: &Places) -> Vec<String> {
    let there = |path: &str| places.on_disk(Path::new(path)).exists();
    let mut cautions = Vec::new();
    if ["/lib/ld-linux.so.2", "/lib/ld-linux-armhf.so.3"]
        .into_iter()
        .any(there)
    {
        cautions.push(
            "programs of 32 bits will write a line of their loader's about the library to standard error; they keep the \
             system's heap"
                .to_owned(),
        );
    }
    // The machine's list is read by the loader of the GNU C library only.
    if places.scope == Scope::User && !musl_loaders(places).is_empty() {
        cautions.push(
            "programs made for musl do not start while LD_PRELOAD names a library of the GNU C library; start them with \
             `env -u LD_PRELOAD`"
                .to_owned(),
        );
    }
    cautions
}

fn musl_loaders(places: &Places) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(places.on_disk(Path::new("/lib")))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("ld-musl-"));
    names.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        Rules::read(OsStr::new(text))
            .map(|rules| rules.0)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn rules_become_one_line() {
        assert_eq!(
            read(" * = mimalloc ;\n# no\n*/java=jemalloc;;").unwrap(),
            "*=mimalloc;*/java=jemalloc"
        );
        assert!(read(" ; # all=system").unwrap_err().contains("find a heap rule"));
    }

    #[test]
    fn a_fault_is_shown_at_its_place() {
        let error = read("*=mimalloc;é*=tcmalloc").unwrap_err();
        assert!(error.contains("system, mimalloc, jemalloc, snmalloc"), "{error}");
        assert!(
            error.ends_with("\n  *=mimalloc;é*=tcmalloc\n                ^"),
            "{error}"
        );
    }

    #[test]
    fn the_last_rule_that_applies_wins() {
        let rules = b"*=mimalloc;/usr/bin/buggy=system;*/java=jemalloc";
        let heap = |path: &str| winner(rules, Path::new(path)).map(|(_, heap)| heap);
        assert_eq!(heap("/usr/bin/sort"), Some("mimalloc"));
        assert_eq!(heap("/usr/bin/buggy"), Some("system"));
        assert_eq!(
            winner(rules, Path::new("/opt/bin/java")),
            Some(("*/java=jemalloc".to_owned(), "jemalloc"))
        );
        assert_eq!(winner(b"sort=mimalloc", Path::new("/bin/cat")), None);
        assert_eq!(winner(b"*=mimalloc;x", Path::new("/bin/cat")), None);
    }

    #[test]
    fn heaps_are_named_once() {
        let rules = Rules("a=mimalloc;b=system;c=mimalloc".to_owned());
        assert_eq!(
            rules.heaps(),
            [select_rules::Heap::Mimalloc, select_rules::Heap::System]
        );
    }
}

//! Remedies: reversible changes outside a program that may make it faster.
//!
//! A remedy is nothing but a change of the environment in which a program starts, or of the file that is started. That makes it safe to try and easy to take
//! back, and it makes it easy to fool oneself: a static program, one with somebody else's rights, or one for another C
//! library ignores the change without a word, and a measurement then compares a program with itself. So each kind of
//! remedy answers three questions beside "what is to be set": whether it can have an effect on a given program, what
//! stands in its way, and, after a run, whether it really was in effect.
//!
//! One file a kind: `heap` puts another heap in front of the C library's, `tunable` turns the C library's own
//! screws, `loader` the dynamic loader's, `bound` runs a copy that is bound already. A remedy's name is what a person types: `heap=mimalloc`, `glibc.malloc.arena_max=1`, and several joined
//! with `+`.

pub mod bound;
mod heap;
pub mod loader;
mod merge;
#[cfg(test)]
mod tests;
mod tunable;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use measure::model::Support;
use os::loader::Program;
use os::process::Observation;

use crate::Artifact;

pub use heap::{general_obstacle, unlistable};

/// A change outside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// As a person writes it: `heap=mimalloc`, `glibc.malloc.arena_max=1`, `heap=mimalloc+glibc.pthread.rseq=0`.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// What it changes.
    pub kind: Kind,
    /// Whether this machine has what it needs.
    pub available: Support,
}

/// What a remedy changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Another heap, preloaded.
    Heap {
        /// The library; empty while the remedy is not available.
        library: PathBuf,
    },
    /// A setting of the C library.
    Tunable {
        /// Its full name.
        name: String,
        /// The value, in decimal where it is a number.
        value: String,
    },
    /// A setting of the dynamic loader that has a variable of its own.
    Loader {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// Another file in the program's place.
    Bound {
        /// The bound copy; empty until somebody has made it.
        copy: PathBuf,
    },
    /// Several at once.
    Combined(Vec<Remedy>),
}

/// Why a remedy would not do what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The reason, and what would change it.
    pub reason: String,
    /// Whether applying it all the same merely has no effect. Otherwise it keeps the program from starting.
    pub harmless: bool,
}

impl Obstacle {
    fn harmless(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            harmless: true,
        }
    }

    fn harmful(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            harmless: false,
        }
    }
}

/// The remedies that `tune` tries when it is not told which: the heaps that are carried along, other heaps that are installed
/// on this machine, and the values worth trying of the tunables that this machine's loader knows.
#[must_use]
pub fn all(artifact: Artifact<'_>) -> Vec<Remedy> {
    let mut remedies = heap::candidates(artifact);
    remedies.extend(tunable::candidates());
    remedies.extend(loader::candidates());
    remedies.push(bound::remedy(PathBuf::new()));
    remedies
}

/// The remedy that a person wrote: `heap=NAME`, `heap=/path/of/library.so`, `TUNABLE=VALUE`, or several joined with `+`.
///
/// # Errors
/// What is wrong with the text, and what could stand there. The message reads after "failed to".
pub fn parse(text: &str, artifact: Artifact<'_>) -> Result<Remedy, String> {
    let parts: Vec<&str> = split(text);
    let mut remedies = Vec::with_capacity(parts.len());
    for part in parts {
        remedies.push(parse_one(part.trim(), artifact)?);
    }
    combine(remedies)
}

/// Several remedies as one. A later setting of the same tunable replaces an earlier one.
///
/// # Errors
/// When there is none, or when two heaps are asked for: the second would never be called.
pub fn combine(remedies: Vec<Remedy>) -> Result<Remedy, String> {
    let mut parts: Vec<Remedy> = Vec::new();
    for remedy in remedies {
        let flat = match remedy.kind {
            Kind::Combined(inner) => inner,
            _ => vec![remedy],
        };
        for part in flat {
            parts.retain(|earlier| !same_setting(earlier, &part));
            parts.push(part);
        }
    }
    let heaps: Vec<&str> = parts
        .iter()
        .filter(|part| matches!(part.kind, Kind::Heap { .. }))
        .map(|part| part.name.as_str())
        .collect();
    if let [first, second, ..] = heaps.as_slice() {
        return Err(format!(
            "combine {first} with {second}: only the first heap would be called; choose one"
        ));
    }
    let bound = parts.iter().any(|part| matches!(part.kind, Kind::Bound { .. }));
    let spoils = |part: &&Remedy| match &part.kind {
        Kind::Heap { .. } => true,
        Kind::Tunable { name, .. } => name.starts_with("glibc.rtld.") || name.starts_with("glibc.cpu."),
        _ => false,
    };
    if let Some(other) = parts.iter().find(spoils).filter(|_| bound) {
        return Err(format!(
            "combine {} with {}: with it the loader may bind otherwise, so the copy would run the original; choose one",
            bound::NAME,
            other.name
        ));
    }
    if parts.len() <= 1 {
        return parts.pop().ok_or_else(|| {
            "find a remedy in an empty text; write, for example, heap=mimalloc or glibc.malloc.arena_max=1".to_owned()
        });
    }
    let join =
        |text: fn(&Remedy) -> &str, between: &str| parts.iter().map(text).collect::<Vec<_>>().join(between);
    Ok(Remedy {
        name: join(|part| &part.name, "+"),
        summary: join(|part| &part.summary, "; "),
        available: parts
            .iter()
            .find_map(|part| {
                part.available
                    .reason()
                    .map(|reason| Support::No(format!("{}: {reason}", part.name)))
            })
            .unwrap_or(Support::Yes),
        kind: Kind::Combined(parts),
    })
}

/// Splits at each `+` that begins another remedy; a path may contain one too.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('+') {
        let rest = &text[at + 1..];
        let is_setting = rest.find(['=', '+', '/']).is_some_and(|end| {
            let name = rest[..end].trim();
            rest[end..].starts_with('=') && (name == "heap" || name.contains('.'))
        });
        if is_setting || rest.is_empty() {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_one(text: &str, artifact: Artifact<'_>) -> Result<Remedy, String> {
    match text.split_once('=') {
        Some(("heap", name)) => heap::named(name, artifact),
        Some((name, value)) if name.starts_with(loader::PREFIX) => loader::named(name, value),
        Some((name, value)) => tunable::named(name, value),
        None if text == bound::NAME => Ok(bound::remedy(PathBuf::new())),
        None => Err(format!(
            "understand the remedy {text:?}: it has no '='; write, for example, heap=mimalloc or \
             glibc.malloc.arena_max=1"
        )),
    }
}

fn same_setting(first: &Remedy, second: &Remedy) -> bool {
    match (&first.kind, &second.kind) {
        (Kind::Tunable { name: first, .. }, Kind::Tunable { name: second, .. }) => first == second,
        (first, second) => first == second,
    }
}

impl Remedy {
    /// What to change in an environment: each variable with its new value, or `None` to remove it. What
    /// is already there is kept: a library that is preloaded already stays behind ours, other tunables stay.
    ///
    /// `current` gives the value that a variable has without the remedy.
    #[must_use]
    pub fn environment(
        &self,
        current: &dyn Fn(&str) -> Option<OsString>,
    ) -> Vec<(OsString, Option<OsString>)> {
        let mut changes = Vec::new();
        let libraries = self.libraries();
        if let (Some(variable), false) = (os::loader::preload_variable(), libraries.is_empty()) {
            changes.push((
                variable.into(),
                Some(merge::preload(&libraries, current(variable))),
            ));
        }
        let tunables = self.tunables();
        if !tunables.is_empty() {
            changes.push((
                tunable::VARIABLE.into(),
                Some(merge::tunables(&tunables, current(tunable::VARIABLE))),
            ));
        }
        changes.extend(
            self.variables()
                .into_iter()
                .map(|(variable, value)| (variable.into(), Some(value.into()))),
        );
        changes
    }

    /// The variables of their own that it sets, with their values.
    fn variables(&self) -> Vec<(&'static str, &str)> {
        match &self.kind {
            Kind::Heap { .. } | Kind::Tunable { .. } | Kind::Bound { .. } => Vec::new(),
            Kind::Loader { variable, value } => vec![(variable, value)],
            Kind::Combined(parts) => parts.iter().flat_map(Self::variables).collect(),
        }
    }

    /// The libraries that it preloads.
    #[must_use]
    pub fn libraries(&self) -> Vec<&PathBuf> {
        match &self.kind {
            Kind::Heap { library } => vec![library],
            Kind::Tunable { .. } | Kind::Loader { .. } | Kind::Bound { .. } => Vec::new(),
            Kind::Combined(parts) => parts.iter().flat_map(Self::libraries).collect(),
        }
    }

    /// The tunables that it sets, as name and value.
    #[must_use]
    pub fn tunables(&self) -> Vec<(&str, &str)> {
        match &self.kind {
            Kind::Heap { .. } | Kind::Loader { .. } | Kind::Bound { .. } => Vec::new(),
            Kind::Tunable { name, value } => vec![(name, value)],
            Kind::Combined(parts) => parts.iter().flat_map(Self::tunables).collect(),
        }
    }

    /// The same remedy with another copy of its library.
    #[must_use]
    pub fn with_library(&self, library: PathBuf) -> Self {
        let kind = match &self.kind {
            Kind::Heap { .. } => Kind::Heap { library },
            Kind::Combined(parts) => Kind::Combined(
                parts
                    .iter()
                    .map(|part| part.with_library(library.clone()))
                    .collect(),
            ),
            other @ (Kind::Tunable { .. } | Kind::Loader { .. } | Kind::Bound { .. }) => other.clone(),
        };
        Self { kind, ..self.clone() }
    }

    /// The bound copy that is run in the program's place, an empty path before it is made; none when the program itself is run.
    #[must_use]
    pub fn copy(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Bound { copy } => Some(copy),
            Kind::Heap { .. } | Kind::Tunable { .. } | Kind::Loader { .. } => None,
            Kind::Combined(parts) => parts.iter().find_map(Self::copy),
        }
    }

    /// The same remedy with a copy that was made.
    #[must_use]
    pub fn with_copy(&self, copy: PathBuf) -> Self {
        let kind = match &self.kind {
            Kind::Bound { .. } => Kind::Bound { copy },
            Kind::Combined(parts) => {
                Kind::Combined(parts.iter().map(|part| part.with_copy(copy.clone())).collect())
            }
            other @ (Kind::Heap { .. } | Kind::Tunable { .. } | Kind::Loader { .. }) => other.clone(),
        };
        Self { kind, ..self.clone() }
    }

    /// Whether the remedy can do something for this program, judged by its file alone.
    #[must_use]
    pub fn applicable(&self, program: &Program) -> Support {
        self.obstacle(program)
            .map_or(Support::Yes, |obstacle| Support::No(obstacle.reason))
    }

    /// What stands in the way of the remedy in this program, if anything does.
    #[must_use]
    pub fn obstacle(&self, program: &Program) -> Option<Obstacle> {
        match &self.kind {
            Kind::Heap { library } => heap::obstacle(library, program),
            Kind::Tunable { name, .. } => tunable::obstacle(name, program),
            Kind::Loader { .. } => loader::obstacle(program),
            Kind::Bound { .. } => bound::obstacle(program),
            Kind::Combined(parts) => {
                let found: Vec<_> = parts
                    .iter()
                    .filter_map(|part| {
                        let obstacle = part.obstacle(program)?;
                        Some(Obstacle {
                            reason: format!("{}: {}", part.name, obstacle.reason),
                            ..obstacle
                        })
                    })
                    .collect();
                found
                    .iter()
                    .find(|obstacle| !obstacle.harmless)
                    .or(found.first())
                    .cloned()
            }
        }
    }

    /// Proof from a run that the remedy was in effect: in every process of the command that it can reach, and in at least
    /// one. Processes that could not be looked into do not count.
    ///
    /// # Errors
    /// Which process went without it, and why. The text reads behind "not in effect:".
    pub fn in_effect(&self, observation: &Observation) -> Result<(), String> {
        match &self.kind {
            Kind::Heap { library } => heap::in_effect(library, observation),
            Kind::Tunable { name, value } => tunable::in_effect(name, value, observation),
            Kind::Loader { variable, value } => loader::in_effect(variable, value, observation),
            Kind::Bound { copy } => bound::in_effect(copy, observation),
            Kind::Combined(parts) => parts.iter().try_for_each(|part| {
                part.in_effect(observation)
                    .map_err(|reason| format!("{}: {reason}", part.name))
            }),
        }
    }
}

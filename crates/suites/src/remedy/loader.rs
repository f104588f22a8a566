//! The dynamic loader's own settings.
//!
//! They move work or change its order, and nothing after the start is any faster for it: so they are tried only where loading is a
//! share of the run that is worth it ([`WORTH_IT`]).

use measure::model::Support;
use os::loader::{Libc, Linkage, Program, classify};
use os::process::Observation;

use super::{Kind, Obstacle, Remedy, tunable};

/// The share of a command's time that must go by before its program begins, for the loader's settings to be tried.
pub const WORTH_IT: f64 = 0.05;

/// How the names begin that people write.
pub const PREFIX: &str = "loader.";

/// What can be set by a variable of its own (ld.so(8)): name, variable, value, what it does.
const VARIABLES: &[(&str, &str, &str, &str)] = &[(
    "loader.bind_now",
    "LD_BIND_NOW",
    "1",
    "all functions are bound at the start instead of at their first call",
)];

/// Tunables of the loader, with the value that differs from the usual one, and what it does.
const TUNABLES: &[(&str, &str, &str)] = &[
    (
        "glibc.rtld.dynamic_sort",
        "1",
        "libraries are sorted by the older algorithm",
    ),
    (
        "glibc.rtld.optional_static_tls",
        "0",
        "no room for thread variables is kept for libraries that come later",
    ),
];

/// Those that this machine's loader knows.
pub fn candidates() -> Vec<Remedy> {
    let known = os::loader::tunables();
    if known.is_empty() {
        return Vec::new();
    }
    let variables = VARIABLES
        .iter()
        .map(|(name, variable, value, summary)| remedy(name, variable, value, summary));
    let tunables = TUNABLES.iter().filter_map(|(name, value, summary)| {
        let named = tunable::named_among(&known, name, value).ok()?;
        Some(Remedy {
            summary: (*summary).to_owned(),
            ..named
        })
    });
    variables.chain(tunables).collect()
}

fn remedy(name: &str, variable: &'static str, value: &str, summary: &str) -> Remedy {
    Remedy {
        name: format!("{name}={value}"),
        summary: summary.to_owned(),
        kind: Kind::Loader {
            variable,
            value: value.to_owned(),
        },
        available: Support::Yes,
    }
}

/// The setting that a person named.
///
/// # Errors
/// When there is no such setting or it takes another value.
pub fn named(name: &str, value: &str) -> Result<Remedy, String> {
    VARIABLES
        .iter()
        .find(|(known, _, right, _)| *known == name && *right == value)
        .map(|(name, variable, value, summary)| remedy(name, variable, value, summary))
        .ok_or_else(|| {
            let known: Vec<_> = VARIABLES
                .iter()
                .map(|(name, _, value, _)| format!("{name}={value}"))
                .collect();
            format!("find the setting {name}={value}; there is {}", known.join(", "))
        })
}

/// Whether a remedy is about loading and nothing else.
pub fn is_of_the_loader(remedy: &Remedy) -> bool {
    match &remedy.kind {
        Kind::Loader { .. } | Kind::Bound { .. } => true,
        Kind::Tunable { name, .. } => name.starts_with("glibc.rtld."),
        Kind::Heap { .. } => false,
        Kind::Combined(parts) => parts.iter().all(is_of_the_loader),
    }
}

/// Why the setting would do nothing for this program, if it would not.
pub fn obstacle(program: &Program) -> Option<Obstacle> {
    if program.secure {
        return Some(Obstacle::harmless(
            "the program runs with rights that you have not got, so the loader ignores the setting; run it as the user whose rights \
             it takes",
        ));
    }
    if !matches!(program.linkage, Linkage::Dynamic { .. }) || program.libc != Libc::Glibc {
        return Some(Obstacle::harmless(
            "the program is not started by the GNU C library's loader, whose setting this is",
        ));
    }
    None
}

/// Proof that the setting reached the processes that the loader starts. It obeys without a word, so there is no better one.
///
/// # Errors
/// Which process went without.
pub fn in_effect(variable: &str, value: &str, observation: &Observation) -> Result<(), String> {
    let mut proven = false;
    for process in observation
        .processes
        .iter()
        .filter(|process| process.inspected && !process.secure)
    {
        if !classify(&process.exe).is_ok_and(|program| obstacle(&program).is_none()) {
            continue;
        }
        if process.variable(variable.as_ref()) != Some(value.as_ref()) {
            return Err(format!(
                "process {} ({}) was started without {variable}={value}",
                process.pid,
                process.exe.display()
            ));
        }
        proven = true;
    }
    if proven {
        Ok(())
    } else {
        Err(format!("no process was seen with {variable}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_names_and_others_are_refused() {
        let setting = named("loader.bind_now", "1").unwrap();
        assert_eq!(
            setting.environment(&|_| None),
            [("LD_BIND_NOW".into(), Some("1".into()))]
        );
        assert!(is_of_the_loader(&setting));
        assert!(
            named("loader.bind_now", "2")
                .unwrap_err()
                .contains("loader.bind_now=1")
        );
    }
}

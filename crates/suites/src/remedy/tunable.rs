//! The C library's own settings, given in `GLIBC_TUNABLES`.
//!
//! They are no stable interface: names, ranges and defaults change from release to release, and a name or value that the loader
//! does not like is ignored in silence (glibc manual, "Tunables"). So nothing here is known beforehand: the loader
//! of the program is asked, once for what there is, and once more, with the setting made, for what it made of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use measure::model::Support;
use os::loader::{Format, Libc, Linkage, Program, Tunable, classify};
use os::process::Observation;

use super::{Kind, Obstacle, Remedy};
use crate::heap::subject;

/// The variable that holds them, separated by colons.
pub const VARIABLE: &str = "GLIBC_TUNABLES";

/// How the settings of the heap begin.
const OF_THE_HEAP: &str = "glibc.malloc.";

/// Values that the heap lab measures for what they show, and that `tune` tries only when told to: each candidate costs every
/// other one runs of the budget, and these make nothing faster that the others do not.
const FOR_THE_LAB: &[&str] = &[
    "glibc.malloc.arena_max=2",
    "glibc.malloc.arena_max=4",
    "glibc.malloc.tcache_count=0",
    "glibc.malloc.tcache_count=64",
];

/// The values worth trying of those that the loader knows.
pub fn candidates() -> Vec<Remedy> {
    subject::tunable_values()
        .into_iter()
        .filter(|(setting, _)| !FOR_THE_LAB.contains(&setting.as_str()))
        .filter_map(|(setting, why)| {
            let (name, value) = setting.split_once('=')?;
            Some(remedy(name, value, why))
        })
        .collect()
}

fn remedy(name: &str, value: &str, summary: String) -> Remedy {
    Remedy {
        name: format!("{name}={value}"),
        summary,
        kind: Kind::Tunable {
            name: name.to_owned(),
            value: value.to_owned(),
        },
        available: Support::Yes,
    }
}

/// The tunable that a person named, if this machine's loader knows it and takes the value.
///
/// # Errors
/// When it does not; the message says what it would take.
pub fn named(name: &str, value: &str) -> Result<Remedy, String> {
    let tunables = os::loader::tunables();
    if tunables.is_empty() {
        let reason = "this machine's loader lists no tunables; the GNU C library does since version 2.33";
        let available = Support::No(reason.to_owned());
        return Ok(Remedy {
            available,
            ..remedy(name, value, String::new())
        });
    }
    named_among(&tunables, name, value)
}

/// As [`named`], among these.
pub fn named_among(tunables: &[Tunable], name: &str, value: &str) -> Result<Remedy, String> {
    let Some(tunable) = tunables.iter().find(|tunable| tunable.name == name) else {
        return Err(format!(
            "find the tunable {name:?}; the loader here knows {}",
            similar(tunables, name)
        ));
    };
    let value = match (tunable.min, tunable.max) {
        (Some(min), Some(max)) => {
            let number = number(value).ok_or_else(|| {
                format!("read the value {value:?} of {name}; write a whole number such as 64, 0x40 or 64k")
            })?;
            if !(min..=max).contains(&number) {
                return Err(format!(
                    "set {name} to {number}: the loader takes {min} to {max} and ignores the rest"
                ));
            }
            number.to_string()
        }
        _ if value.is_empty()
            || value.contains(|c: char| c == ':' || c.is_whitespace() || c.is_control()) =>
        {
            return Err(format!(
                "set {name} to {value:?}: it takes a text without blanks and colons"
            ));
        }
        _ => value.to_owned(),
    };
    Ok(remedy(
        name,
        &value,
        format!("a setting of the C library; otherwise {}", default_of(tunable)),
    ))
}

fn default_of(tunable: &Tunable) -> &str {
    if tunable.default.is_empty() {
        "empty"
    } else {
        &tunable.default
    }
}

/// The names that share their beginning with what was written; those of the heap when none does.
fn similar(tunables: &[Tunable], name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let pick = |wanted: &dyn Fn(&str) -> bool| -> Vec<&str> {
        tunables
            .iter()
            .map(|tunable| tunable.name.as_str())
            .filter(|name| wanted(name))
            .collect()
    };
    let mut names = pick(&|known| !last.is_empty() && known.contains(last));
    if names.is_empty() {
        names = pick(&|known| known.starts_with(OF_THE_HEAP));
    }
    names.sort_unstable();
    names.join(", ")
}

/// A number as people and as the loader write it: decimal, hexadecimal behind `0x`, or with k, M, G for powers of 1024.
fn number(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Why the setting would do nothing for this program, if it would not.
pub fn obstacle(name: &str, program: &Program) -> Option<Obstacle> {
    let no = |reason: &str| Some(Obstacle::harmless(reason));
    match program.format {
        Format::Elf | Format::Script { .. } => {}
        Format::Pe => return no("it is a program of Windows, whose C library has no tunables"),
        Format::Other => {
            return no(
                "it is neither a program nor a script that names its interpreter; begin the script with #!/bin/sh",
            );
        }
    }
    if program.libc != Libc::Glibc {
        return no("the program does not use the GNU C library, whose setting this is");
    }
    if program.secure {
        return no(
            "the program runs with rights that you have not got (set-user-id, set-group-id or file capabilities), so the \
             C library ignores the setting; run it as the user whose rights it takes",
        );
    }
    let Linkage::Dynamic { interpreter } = &program.linkage else {
        return no(
            "the program is statically linked, and its own copy of the C library cannot be asked what it knows; only a \
             dynamically linked build can be proven to take the setting",
        );
    };
    if name.starts_with(OF_THE_HEAP) {
        if program.go {
            return no(
                "the program is made by Go, which manages its memory itself; GOGC and GOMEMLIMIT are its settings",
            );
        }
        if let Some(own) = &program.own_heap {
            return Some(Obstacle::harmless(format!(
                "the program brings its own heap ({own}), so the C library's heap and its settings are not used"
            )));
        }
    }
    let known = os::loader::tunables_of(interpreter);
    if known.iter().all(|tunable| tunable.name != name) {
        return Some(Obstacle::harmless(format!(
            "the program's loader {} does not know it",
            interpreter.display()
        )));
    }
    None
}

/// See [`Remedy::in_effect`]: the variable reached the processes with the setting in it, and their loader accepts it.
pub fn in_effect(name: &str, value: &str, observation: &Observation) -> Result<(), String> {
    let mut accepted = BTreeMap::<PathBuf, bool>::new();
    let mut proven = false;
    for process in observation
        .processes
        .iter()
        .filter(|process| process.inspected && !process.secure)
    {
        let Ok(program) = classify(&process.exe) else {
            continue;
        };
        let (Libc::Glibc, Linkage::Dynamic { interpreter }) = (program.libc, program.linkage) else {
            continue;
        };
        let variable = process
            .variable(VARIABLE.as_ref())
            .unwrap_or_default()
            .to_string_lossy();
        let setting = variable
            .split(':')
            .filter_map(|setting| setting.split_once('='))
            .rfind(|(key, _)| *key == name);
        if setting != Some((name, value)) {
            let (pid, exe) = (process.pid, process.exe.display());
            return Err(format!(
                "process {pid} ({exe}) was started without {name}={value} in {VARIABLE}"
            ));
        }
        let accepts = *accepted
            .entry(interpreter)
            .or_insert_with_key(|loader| takes(loader, name, value));
        if !accepts {
            return Err(format!(
                "the loader of process {} does not take {name}={value}",
                process.pid
            ));
        }
        proven = true;
    }
    if proven {
        Ok(())
    } else {
        Err(format!(
            "no process with the GNU C library was seen with {name}={value}"
        ))
    }
}

/// Whether a loader, with the setting made, reports the value as the one in force.
pub fn takes(loader: &Path, name: &str, value: &str) -> bool {
    let output = Command::new(loader)
        .arg("--list-tunables")
        .env_clear()
        .env(VARIABLE, format!("{name}={value}"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| reports(&String::from_utf8_lossy(&output.stdout), name, value))
}

/// Whether the loader's list shows this value: `glibc.malloc.arena_max: 0x1 (min: 0x1, max: 0xffffffffffffffff)`.
fn reports(list: &str, name: &str, value: &str) -> bool {
    list.lines()
        .filter_map(|line| line.split_once(": "))
        .any(|(listed, rest)| {
            let shown = rest.split(" (").next().unwrap_or(rest).trim();
            listed == name
                && (shown == value || number(shown).is_some_and(|shown| Some(shown) == number(value)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunable(name: &str, range: Option<(u64, u64)>) -> Tunable {
        Tunable {
            name: name.to_owned(),
            default: "0".to_owned(),
            min: range.map(|range| range.0),
            max: range.map(|range| range.1),
        }
    }

    #[test]
    fn numbers_are_read_as_people_and_loaders_write_them() {
        assert_eq!(number("64"), Some(64));
        assert_eq!(number("0x40"), Some(64));
        assert_eq!(number("64k"), Some(64 << 10));
        assert_eq!(number("2G"), Some(2 << 30));
        for wrong in [
            "",
            "k",
            "0x",
            "-1",
            "1.5",
            "1kk",
            "99999999999999999999",
            "17179869184G",
            "½",
        ] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_what_the_loader_takes_is_accepted() {
        let known = [
            tunable("glibc.malloc.arena_max", Some((1, u64::MAX))),
            tunable("glibc.malloc.perturb", Some((0, 255))),
            tunable("glibc.cpu.hwcaps", None),
        ];
        let name_of = |name, value| named_among(&known, name, value).map(|remedy| remedy.name);
        assert_eq!(
            name_of("glibc.malloc.arena_max", "0x2").unwrap(),
            "glibc.malloc.arena_max=2"
        );
        assert_eq!(
            name_of("glibc.cpu.hwcaps", "-AVX2_Usable").unwrap(),
            "glibc.cpu.hwcaps=-AVX2_Usable"
        );
        let error = name_of("glibc.malloc.arena_max", "0").unwrap_err();
        assert!(error.contains("1 to 18446744073709551615"), "{error}");
        assert!(name_of("glibc.malloc.perturb", "256").is_err());
        assert!(
            name_of("glibc.malloc.perturb", "many")
                .unwrap_err()
                .contains("64k")
        );
        assert!(name_of("glibc.cpu.hwcaps", "a:b").is_err());
        assert!(
            name_of("arena_max", "1")
                .unwrap_err()
                .ends_with("knows glibc.malloc.arena_max")
        );
        let error = name_of("nonsense", "1").unwrap_err();
        assert!(
            error.ends_with("knows glibc.malloc.arena_max, glibc.malloc.perturb"),
            "{error}"
        );
    }

    #[test]
    fn a_loaders_answer_is_understood() {
        let list = "glibc.malloc.arena_max: 0x2 (min: 0x1, max: 0xffffffffffffffff)\n\
                    glibc.malloc.perturb: 5 (min: 0, max: 255)\nglibc.cpu.x86_ibt: on\nnonsense";
        assert!(reports(list, "glibc.malloc.arena_max", "2"));
        assert!(reports(list, "glibc.malloc.perturb", "5"));
        assert!(reports(list, "glibc.cpu.x86_ibt", "on"));
        assert!(!reports(list, "glibc.malloc.arena_max", "1"));
        assert!(!reports(list, "glibc.malloc.arena", "2"));
    }
}

//! Launchers: shell scripts that start one command with a remedy.
//!
//! A launcher must be no worse than the command itself: it keeps arguments, standard streams, exit status and signals
//! (the shell is replaced by the command), adds to a `LD_PRELOAD` and `GLIBC_TUNABLES` that are set already, and starts
//! the plain command, without a word, when the library is gone. It is written for any POSIX shell.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use suites::remedy::Remedy;

use super::ledger::{Ledger, Ours, Wanted};
use super::library::Library;
use super::places::{Places, Scope};
use super::quote;
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure};

/// Writes a launcher for `command` with `remedy` to `path`, executable for everybody, and returns what to tell the person.
///
/// The command is resolved now and written as an absolute path: a launcher of the command's own name in a folder of `PATH`
/// would otherwise start itself for ever.
///
/// # Errors
/// When the command is not there, when the file is there and not ours and `force` is not given, or cannot be
/// written.
pub fn write(path: &Path, remedy: &Remedy, command: &[OsString], force: bool) -> Result<String, Failure> {
    let places = Places::of(Scope::User, None)?;
    let path = absolute(path)?;
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Failure::usage("find a command; give it after --"))?;
    let program = os::loader::find_in_path(program, std::env::var_os("PATH").as_deref())
        .map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let program = absolute(&program)?;
    if path
        .canonicalize()
        .is_ok_and(|path| program.canonicalize().is_ok_and(|program| program == path))
    {
        let path = path.display();
        return Err(Failure::new(
            CHECK_FAILED,
            format!("write the launcher {path}: it would replace the program itself"),
        ));
    }
    let (library, remedy) = lasting(&places, remedy)?;
    let remedy = match remedy.copy() {
        Some(_) => remedy.with_copy(crate::bound::ensured(&program)?),
        None => remedy,
    };
    let words: Vec<OsString> = std::iter::once(program.into_os_string())
        .chain(arguments.iter().cloned())
        .collect();
    let wanted = Wanted {
        path: path.clone(),
        ours: Ours::Whole(script(&remedy, &words)),
        mode: 0o755,
    };
    Ledger::of_file(&places, &path).apply(
        &format!("launcher with {}", remedy.name),
        library.as_slice(),
        &[wanted],
        force,
    )?;
    Ok(format!(
        "wrote {}, which runs the command with {}; `underhood select --undo {}` takes it back",
        path.display(),
        remedy.name,
        String::from_utf8_lossy(&quote::shell(path.as_os_str()))
    ))
}

/// The remedy with its library in a place that lasts.
pub fn lasting(places: &Places, remedy: &Remedy) -> Result<(Option<Library>, Remedy), Failure> {
    if let Some(reason) = remedy.available.reason() {
        return Err(Failure::new(
            crate::exit::UNSUPPORTED,
            format!("apply {}: {reason}", remedy.name),
        ));
    }
    let Some(&unpacked) = remedy.libraries().first() else {
        return Ok((None, remedy.clone()));
    };
    Ok(match Library::of_unpacked(places, unpacked)? {
        Some(library) => {
            let remedy = remedy.with_library(library.path.clone());
            (Some(library), remedy)
        }
        None => (None, remedy.clone()),
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("resolve {}: {error}", path.display())))
}

/// The text of a launcher.
pub fn script(remedy: &Remedy, command: &[OsString]) -> Vec<u8> {
    // A library may have any path, and the remedy's name may contain it: no line end may leave the comment.
    let name: String = remedy
        .name
        .chars()
        .filter(|letter| !letter.is_control())
        .collect();
    let mut text =
        format!("#!/bin/sh\n# A launcher made by underhood: the command below with {name}.\n").into_bytes();
    for library in remedy.libraries() {
        text.extend_from_slice(b"library=");
        text.extend(quote::shell(library.as_os_str()));
        text.extend_from_slice(
            b"\nif [ -r \"$library\" ]; then\n    LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}\n    export LD_PRELOAD\nfi\n",
        );
    }
    let tunables = remedy.tunables();
    if !tunables.is_empty() {
        // Of a tunable that is set twice the last value counts.
        let settings: Vec<String> = tunables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        text.extend_from_slice(b"GLIBC_TUNABLES=${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}");
        text.extend(quote::shell(settings.join(":").as_ref()));
        text.extend_from_slice(b"\nexport GLIBC_TUNABLES\n");
    }
    let mut command = command.iter();
    if let Some(copy) = remedy.copy() {
        text.extend_from_slice(b"program=");
        text.extend(quote::shell(copy.as_os_str()));
        text.extend_from_slice(b"\n[ -x \"$program\" ] || program=");
        text.extend(
            command
                .next()
                .map(|program| quote::shell(program))
                .unwrap_or_default(),
        );
        text.extend_from_slice(b"\nexec \"$program\"");
    } else {
        text.extend_from_slice(b"exec");
    }
    for word in command {
        text.push(b' ');
        text.extend(quote::shell(word));
    }
    text.extend_from_slice(b" \"$@\"\n");
    text
}

//! `exec`: runs a command with remedies applied, or writes down how.
//!
//! Nothing stays between the caller and the command: on Linux the process becomes the command, so standard streams, signals and
//! the exit status are the command's own. A command that cannot be started exits with 1 and a message, as everywhere in
//! Underhood, not with the shell's 126 and 127, which a command can also return itself.

use std::ffi::OsString;
use std::path::PathBuf;

use os::loader::{Program, classify, find_in_path};
use suites::remedy::{self, Remedy};

use crate::apply::{self, quote};
use crate::bound;
use crate::context::Context;
use crate::exit::{self, COMMAND_FAILED, Done, Failure, UNSUPPORTED};
use crate::machine;

/// Arguments of `exec`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code: the command's own; 1 it could not be started; 2 usage; 3 a remedy does nothing here."
)]
pub struct Args {
    /// Another heap: mimalloc, jemalloc, snmalloc, one that is installed, or the path of a library
    #[arg(long, value_name = "NAME")]
    heap: Option<String>,
    /// A setting of the C library, such as glibc.malloc.arena_max=1; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// A copy of the command that is relocated and bound already (image bind), made when there is none or when it is out of date
    #[arg(long, conflicts_with = "heap")]
    bound: bool,
    /// A remedy as tune names it, such as heap=mimalloc+glibc.malloc.arena_max=1; repeatable
    #[arg(long = "remedy", value_name = "REMEDY")]
    remedies: Vec<String>,
    /// Run it also where the remedy does nothing, and overwrite a file that is not ours
    #[arg(long)]
    force: bool,
    /// Print the environment that the command would get beside ours, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Write a shell launcher that does this, instead of doing it
    #[arg(long, value_name = "FILE")]
    write_launcher: Option<PathBuf>,
    /// Write a systemd drop-in for this service, instead of running the command
    #[arg(long, value_name = "UNIT")]
    write_systemd: Option<String>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Runs `exec`; returns only when the command was not started.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let remedy = wanted(&args)?;
    if let Some(reason) = remedy.available.reason() {
        return Err(Failure::new(
            UNSUPPORTED,
            format!("apply {}: {reason}", remedy.name),
        ));
    }
    let (name, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| Failure::usage("find a command; give it after --"))?;
    let file = find_in_path(name, std::env::var_os("PATH").as_deref())
        .map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    // What cannot be read may be executable all the same, and then nothing is known against it.
    if let Ok(program) = classify(&file) {
        check(&remedy, &program, args.force, context)?;
    }
    let environment = remedy.environment(&|name| std::env::var_os(name));
    if args.dry_run {
        return show(&environment).map(|()| Done::OK);
    }
    if let Some(path) = &args.write_launcher {
        context.remark(&apply::launcher::write(path, &remedy, &args.command, args.force)?);
    }
    if let Some(unit) = &args.write_systemd {
        context.remark(&apply::systemd::write(unit, &remedy, args.force)?);
    }
    if args.write_launcher.is_some() || args.write_systemd.is_some() {
        return Ok(Done::OK);
    }
    let file = match remedy.copy() {
        Some(_) => bound::ensured(&file)?,
        None => file,
    };
    let error = os::start::become_program(&file, name, arguments, &environment);
    Err(Failure::new(
        COMMAND_FAILED,
        format!("run {}: {error}", file.display()),
    ))
}

/// All that was asked for, as one remedy.
fn wanted(args: &Args) -> Result<Remedy, Failure> {
    let heap = args.heap.iter().map(|name| format!("heap={name}"));
    let bound = args.bound.then(|| remedy::bound::NAME.to_owned());
    let texts = heap
        .chain(bound)
        .chain(args.settings.iter().cloned())
        .chain(args.remedies.iter().cloned());
    let remedies: Vec<Remedy> = texts
        .map(|text| remedy::parse(&text, &machine::artifact))
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)?;
    if remedies.is_empty() {
        return Err(Failure::usage(
            "find a remedy; give one with --heap NAME, --set NAME=VALUE, --bound or --remedy REMEDY, for example --heap mimalloc",
        ));
    }
    remedy::combine(remedies).map_err(Failure::usage)
}

/// Refuses a remedy that does nothing for the program; with `force` only one that would keep it from starting.
fn check(remedy: &Remedy, program: &Program, force: bool, context: &Context) -> Result<(), Failure> {
    let Some(obstacle) = remedy.obstacle(program) else {
        return Ok(());
    };
    let refused = format!("apply {}: {}", remedy.name, obstacle.reason);
    if !obstacle.harmless {
        return Err(Failure::new(
            UNSUPPORTED,
            format!("{refused}; it would not start, so --force does not help"),
        ));
    }
    if !force {
        return Err(Failure::new(
            UNSUPPORTED,
            format!("{refused} (--force runs it all the same)"),
        ));
    }
    context.remark(&format!(
        "underhood: {} does nothing here: {}",
        remedy.name, obstacle.reason
    ));
    Ok(())
}

/// Prints the environment as a shell would take it.
fn show(environment: &[(OsString, Option<OsString>)]) -> Result<(), Failure> {
    let lines = environment.iter().map(|(variable, value)| {
        let variable = variable.to_string_lossy();
        match value {
            Some(value) => format!("{variable}={}\n", String::from_utf8_lossy(&quote::shell(value))),
            None => format!("unset {variable}\n"),
        }
    });
    exit::print(&lines.collect::<String>())
}

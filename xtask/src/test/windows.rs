//! The steps for Windows: built with Debian's tool chain, run under Wine.
//!
//! Debian's Rust can build its standard library from source, which rustup's stable one cannot; the target is
//! the one for Windows 7 and later, because Wine 8 lacks a library that newer targets load. On a
//! real Windows the ordinary tool chain builds the same sources, and `cargo test` runs the same tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::packages;
use super::tally::Tally;
use super::{Context, Report, SHOW_OUTPUT};
use crate::metadata::{root, target_dir};
use crate::shell;

const TARGET: &str = "x86_64-win7-windows-gnu";

/// The packages whose tests run under Wine: those with code for Windows, and those that promise to
/// give the same answers everywhere.
const TESTED: &[&str] = &[
    "underhood-os",
    "underhood-stats",
    "underhood-record",
    "underhood-measure",
];

/// What underhood.exe must be able to do: arguments, and what its output must contain.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["--version"], "underhood"),
    (
        &["measure", "heap", "--quick", "--no-store", "--json", "-"],
        "\"schema\":\"underhood.run/1\"",
    ),
    (
        &[
            "time",
            "--runs",
            "5",
            "--no-store",
            "--json",
            "-",
            "--",
            "cmd",
            "/c",
            "exit",
        ],
        "\"schema\":\"underhood.time/1\"",
    ),
    (
        &[
            "time",
            "--to",
            "entry",
            "--runs",
            "3",
            "--no-store",
            "--json",
            "-",
            "--",
            "cmd",
            "/c",
            "exit",
        ],
        "\"to_entry_us\":{\"estimate\":",
    ),
];

/// Builds the tests and runs them.
pub fn test(context: &Context) -> Result<Report> {
    if let Some(skip) = missing(context) {
        return Ok(skip);
    }
    let packages: Vec<_> = TESTED.iter().flat_map(|package| ["--package", package]).collect();
    let mut command = debian_cargo()?;
    command.args(["test", "--no-run"]).args(packages);
    let programs = built(&mut command, |message| message["profile"]["test"] == true)?;
    ensure!(!programs.is_empty(), "cargo built no test programs");

    let mut report = Report::from(Tally::default());
    for (program, folder) in programs {
        let finished = shell::run(wine(context, &program).arg(SHOW_OUTPUT).current_dir(folder))?;
        report.add(Report::of_tests(&finished.stdout, finished.status.success()));
    }
    Ok(report)
}

/// Builds underhood.exe and runs what it must be able to do.
pub fn commands(context: &Context) -> Result<Report> {
    if let Some(skip) = missing(context) {
        return Ok(skip);
    }
    let mut command = debian_cargo()?;
    command.args(["build", "--package", "underhood"]);
    let programs = built(&mut command, |message| message["target"]["name"] == "underhood")?;
    let (underhood, _) = programs
        .first()
        .context("find underhood.exe among what cargo built")?;

    let mut tally = Tally::default();
    for (arguments, expected) in COMMANDS {
        let finished = shell::run_quietly(wine(context, underhood).args(*arguments))?;
        let compact: String = finished.stdout.split_whitespace().collect();
        let held = finished.status.success() && compact.contains(expected);
        if !held {
            println!(
                "{}\nexpected success and {expected} in the output; it ended with {}",
                finished.stdout, finished.status
            );
        }
        tally += Tally::check(held);
    }
    Ok(tally.into())
}

/// Ends the server of our Wine prefix, if any of its programs ran.
pub fn end_wine(context: &Context) {
    let prefix = prefix(context);
    if prefix.exists() {
        // Nothing depends on it: the server ends by itself a while after its last program.
        let _ = Command::new("wineserver")
            .arg("-k")
            .env("WINEPREFIX", &prefix)
            .status();
        let _ = Command::new("wineserver")
            .arg("-w")
            .env("WINEPREFIX", &prefix)
            .status();
    }
}

fn missing(context: &Context) -> Option<Report> {
    let missing: Vec<_> = packages::WINDOWS
        .packages
        .iter()
        .copied()
        .filter(|package| context.missing.contains(package))
        .collect();
    let line = packages::line_to_type(&missing);
    let reason = format!(
        "cannot {} without packages that are missing: {line}",
        packages::WINDOWS.purpose
    );
    (!missing.is_empty()).then(|| Report::skip(reason))
}

fn debian_cargo() -> Result<Command> {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .current_dir(root())
        .env("RUSTC", "/usr/bin/rustc")
        // Building the standard library is not stable yet; this lets Debian's stable compiler do it.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
        // Tests must unwind. Were the profile to abort, the standard library would be built in both ways, and the two
        // copies in one folder be taken for one broken one.
        .env("CARGO_PROFILE_DEV_PANIC", "unwind")
        // Full debugging information makes the linker for Windows slower than the compiler.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_INCREMENTAL", "0")
        .env("CC_x86_64_win7_windows_gnu", "x86_64-w64-mingw32-gcc")
        .env("AR_x86_64_win7_windows_gnu", "x86_64-w64-mingw32-ar")
        // Two compilers in one folder would rebuild each other's build scripts.
        .env("CARGO_TARGET_DIR", target_dir()?.join("windows"));
    // `cargo xtask` comes through rustup, whose variables would lead back to its own tool chain.
    for name in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTDOC"] {
        command.env_remove(name);
    }
    Ok(command)
}

/// Runs cargo and returns the programs whose message is wanted, each with its package's folder.
fn built(command: &mut Command, wanted: fn(&Value) -> bool) -> Result<Vec<(PathBuf, PathBuf)>> {
    command.args([
        "--locked",
        "--target",
        TARGET,
        "--message-format=json-render-diagnostics",
    ]);
    let mut programs = Vec::new();
    for line in shell::output_with_progress(command)?
        .lines()
        .filter(|line| line.starts_with('{'))
    {
        let message: Value = serde_json::from_str(line).context("understand cargo's message")?;
        if message["reason"] != "compiler-artifact" || !wanted(&message) {
            continue;
        }
        let Some(program) = message["executable"].as_str() else {
            continue;
        };
        let manifest = message["manifest_path"]
            .as_str()
            .context("find a package's folder")?;
        let folder = Path::new(manifest).parent().context("find a package's folder")?;
        programs.push((PathBuf::from(program), folder.to_owned()));
    }
    Ok(programs)
}

fn prefix(context: &Context) -> PathBuf {
    context.scratch.path().join("wine")
}

/// Wine with a prefix of its own, so that nobody's settings count and nothing stays.
fn wine(context: &Context, program: &Path) -> Command {
    let mut command = Command::new("wine");
    command
        .arg(program)
        .env("WINEPREFIX", prefix(context))
        .env("WINEARCH", "win64")
        .env("WINEDEBUG", "-all")
        // No offer to download a browser engine or .NET.
        .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
        .env_remove("DISPLAY");
    command
}

//! The steps on the machine itself.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::packages;
use super::tally::Tally;
use super::{Context, Report, SHOW_OUTPUT};
use crate::metadata::{WORKSPACES, cargo, host, root, target_dir};
use crate::shell;

/// What is missing is a skip, with the line to type.
pub fn packages(context: &Context) -> Result<Report> {
    let missing: Vec<_> = packages::LINUX
        .packages
        .iter()
        .copied()
        .filter(|package| context.missing.contains(package))
        .collect();
    if missing.is_empty() {
        return Ok(Tally::check(true).into());
    }
    let line = packages::line_to_type(&missing);
    Ok(Report::skip(format!(
        "cannot {} without packages that are missing: {line}",
        packages::LINUX.purpose
    )))
}

/// Formatting of all workspaces; prints the files that `cargo fmt` would change.
pub fn format(_: &Context) -> Result<Report> {
    each_workspace(&["fmt", "--all", "--", "--check", "--files-with-diff"], &[])
}

/// All lints of all workspaces; a warning is a failure.
pub fn clippy(_: &Context) -> Result<Report> {
    each_workspace(
        &[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "--deny=warnings",
        ],
        &[],
    )
}

/// The documentation of all workspaces builds, and its links lead somewhere.
pub fn docs(_: &Context) -> Result<Report> {
    each_workspace(
        &["doc", "--locked", "--workspace", "--no-deps"],
        &[("RUSTDOCFLAGS", "--deny=warnings")],
    )
}

/// The tests of the main workspace, with the launcher that the bundle builds before any of them runs.
pub fn test(_: &Context) -> Result<Report> {
    run_tests(
        ".",
        &[(
            "UNDERHOOD_LAUNCHER",
            built("launcher")?.join("underhood-launcher"),
        )],
    )
}

/// The tests of the launcher's workspace.
pub fn test_launcher(_: &Context) -> Result<Report> {
    run_tests("crates/launcher", &[])
}

/// The tests of the heaps. They build the libraries, unless the bundle already did from the same sources.
pub fn test_heap_shim(_: &Context) -> Result<Report> {
    let folder = built("heap-shim")?;
    let variables: &[_] = if folder.exists() {
        &[("UNDERHOOD_SHIM_DIR", folder)]
    } else {
        &[]
    };
    run_tests("crates/heap-shim", variables)
}

/// Where the bundle's build script leaves what it makes of a workspace; see `.cargo/config.toml`.
fn built(workspace: &str) -> Result<PathBuf> {
    let bundle = env::var_os("UNDERHOOD_BUNDLE_DIR")
        .context("read UNDERHOOD_BUNDLE_DIR, which .cargo/config.toml sets")?;
    Ok(PathBuf::from(bundle)
        .join(workspace)
        .join(host()?)
        .join("release"))
}

fn run_tests(workspace: &str, variables: &[(&str, PathBuf)]) -> Result<Report> {
    let mut command = workspace_cargo(workspace)?;
    command.args(["test", "--locked", "--workspace", "--no-fail-fast"]);
    for (name, value) in variables {
        command.env(name, value);
    }
    let finished = shell::run(command.args(["--", SHOW_OUTPUT]))?;
    Ok(Report::of_tests(&finished.stdout, finished.status.success()))
}

fn each_workspace(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Report> {
    let mut tally = Tally::default();
    for workspace in WORKSPACES {
        let mut command = workspace_cargo(workspace)?;
        command.args(arguments).envs(variables.iter().copied());
        tally += Tally::check(shell::run(&mut command)?.status.success());
    }
    Ok(tally.into())
}

/// Cargo in one workspace. Each has a target folder of its own below the main one: their locks and
/// profiles differ, so in a shared one they would undo each other's work.
fn workspace_cargo(workspace: &str) -> Result<Command> {
    let mut command = cargo();
    command.current_dir(root().join(workspace));
    if workspace != "." {
        command.env("CARGO_TARGET_DIR", target_dir()?.join(workspace));
    }
    Ok(command)
}

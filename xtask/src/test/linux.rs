//! The steps on the machine itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::packages;
use super::tally::Tally;
use super::{Context, Report, SHOW_OUTPUT};
use crate::metadata::{GUARD, WORKSPACES, cargo, host, root};
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
    let mut tally = Tally::default();
    for workspace in WORKSPACES {
        let mut command = cargo();
        command.current_dir(root().join(workspace)).args([
            "fmt",
            "--all",
            "--",
            "--check",
            "--files-with-diff",
        ]);
        tally += Tally::check(shell::run(&mut command)?.status.success());
    }
    Ok(tally.into())
}

/// Whether this machine can compile a workspace.
fn is_compiled(workspace: &str) -> bool {
    workspace != GUARD || cfg!(target_arch = "x86_64")
}

/// All lints of all workspaces; a warning is a failure.
pub fn clippy(_: &Context) -> Result<Report> {
    let mut tally = Tally::default();
    for workspace in WORKSPACES.iter().filter(|workspace| is_compiled(workspace)) {
        let mut command = in_workspace(workspace, "clippy")?;
        command.args(["--workspace", "--all-targets", "--", "--deny=warnings"]);
        tally += Tally::check(shell::run(&mut command)?.status.success());
    }
    Ok(tally.into())
}

/// The documentation of all workspaces builds, and its links lead somewhere.
pub fn docs(_: &Context) -> Result<Report> {
    let mut tally = Tally::default();
    for workspace in WORKSPACES.iter().filter(|workspace| is_compiled(workspace)) {
        let mut command = in_workspace(workspace, "doc")?;
        command
            .args(["--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny=warnings");
        tally += Tally::check(shell::run(&mut command)?.status.success());
    }
    Ok(tally.into())
}

/// The tests of the main workspace.
pub fn test(_: &Context) -> Result<Report> {
    let launcher = built("crates/launcher", &[])?.join("underhood-launcher");
    let mut variables = vec![("UNDERHOOD_LAUNCHER", launcher)];
    if is_compiled(GUARD) {
        variables.push(("UNDERHOOD_GUARD", built(GUARD, &[])?.join("underhood-guard")));
    }
    run_tests(".", &variables)
}

/// The tests of the launcher's workspace.
pub fn test_launcher(_: &Context) -> Result<Report> {
    run_tests("crates/launcher", &[])
}

/// The tests of the heaps.
pub fn test_heap_shim(_: &Context) -> Result<Report> {
    let shims = built(
        "crates/heap-shim",
        &["--workspace", "--exclude", "underhood-shim-tests"],
    )?;
    run_tests("crates/heap-shim", &[("UNDERHOOD_SHIM_DIR", shims)])
}

/// Builds what the bundle carries of a workspace, in the same place: one of the two finds it done. Returns the folder.
fn built(workspace: &str, arguments: &[&str]) -> Result<PathBuf> {
    let mut command = in_workspace(workspace, "build")?;
    let finished = shell::run(command.args(arguments))?;
    ensure!(finished.status.success(), "cargo did not build {workspace}");
    Ok(bundle_dir(workspace)?.join(host()?).join("release"))
}

fn run_tests(workspace: &str, variables: &[(&str, PathBuf)]) -> Result<Report> {
    let mut command = in_workspace(workspace, "test")?;
    command.args(["--workspace", "--no-fail-fast", "--", SHOW_OUTPUT]);
    for (name, value) in variables {
        command.env(name, value);
    }
    let finished = shell::run(&mut command)?;
    Ok(Report::of_tests(&finished.stdout, finished.status.success()))
}

/// A subcommand of cargo in one workspace. In the small ones it works where, and how, the bundle's build script
/// builds them: their C sources take minutes, and are compiled once for all steps.
fn in_workspace(workspace: &str, subcommand: &str) -> Result<Command> {
    let mut command = cargo();
    command
        .current_dir(root().join(workspace))
        .args([subcommand, "--locked"]);
    if workspace != "." {
        command
            .env("CARGO_TARGET_DIR", bundle_dir(workspace)?)
            .args(["--release", "--target", &host()?]);
    }
    Ok(command)
}

/// The target folder of the bundle's inner build of a workspace; see `.cargo/config.toml`.
fn bundle_dir(workspace: &str) -> Result<PathBuf> {
    let bundle = env::var_os("UNDERHOOD_BUNDLE_DIR")
        .context("read UNDERHOOD_BUNDLE_DIR, which .cargo/config.toml sets")?;
    let name = Path::new(workspace).file_name().unwrap_or_default();
    Ok(PathBuf::from(bundle).join(name))
}

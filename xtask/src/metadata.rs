//! What cargo knows about the workspaces here.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::shell;

/// The workspaces of this repository: the main one, and those that are built in their own ways.
pub const WORKSPACES: &[&str] = &[".", "crates/launcher", "crates/heap-shim", GUARD];

/// The workspace of the guard, which exists for x86-64 only.
pub const GUARD: &str = "crates/guard";

/// The root of the repository.
pub fn root() -> PathBuf {
    // Cargo tells at run time where it found this package; what was true when it was compiled may have moved.
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_owned()
}

/// The cargo that runs us, so that a tool chain chosen by hand is kept.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The output of `cargo metadata` for one workspace.
pub fn metadata(workspace: &str, arguments: &[&str]) -> Result<serde_json::Value> {
    let text = shell::output(
        cargo()
            .args(["metadata", "--format-version=1", "--locked"])
            .args(arguments)
            .current_dir(root().join(workspace)),
    )?;
    serde_json::from_str(&text).context("understand the output of cargo metadata")
}

/// The target folder of the main workspace.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(".", &["--no-deps"])?;
    let folder = metadata["target_directory"]
        .as_str()
        .context("find the target folder")?;
    Ok(PathBuf::from(folder))
}

/// The triple of this machine, as its tool chain calls it.
pub fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = shell::output(Command::new(rustc).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("find the host in the output of rustc -vV")?
        .to_owned())
}

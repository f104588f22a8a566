//! The rules of decision err no more often than they promise: on simulated data of many kinds.

use anyhow::Result;

use crate::metadata::cargo;
use crate::shell;

/// Runs the simulations of the statistics package; arguments are handed to them.
pub fn run(arguments: &[String]) -> Result<bool> {
    let mut command = cargo();
    command.args([
        "run",
        "--release",
        "--locked",
        "--package",
        "underhood-stats",
        "--example",
        "prove",
        "--",
    ]);
    Ok(shell::run(command.args(arguments))?.status.success())
}

//! `underhood completions SHELL`: completion scripts, made from the command line's own description.

use clap_complete::Shell;

use crate::exit::{self, Done, Failure};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: Args, mut command: clap::Command) -> Result<Done, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "underhood", &mut script);
    exit::print(&String::from_utf8_lossy(&script))?;
    Ok(Done::OK)
}

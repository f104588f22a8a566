//! The `underhood` command: reads the command line and hands over to one file a command.

mod apply;
mod cli;
mod command_line;
mod commands;
mod context;
mod exit;
mod machine;
mod progress;
mod tuning;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    os::signal::install();
    exit::code_of(cli.run())
}

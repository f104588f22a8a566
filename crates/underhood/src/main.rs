//! The `underhood` command: reads the command line and hands over to one file a command.

mod apply;
mod bound;
mod cli;
mod closure;
mod command_line;
mod commands;
mod context;
mod exit;
mod load_sets;
mod machine;
mod progress;
mod rewriting;
mod scratch;
mod set_builder;
mod tuning;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    if let Err(error) = os::signal::install() {
        // Without it an interrupt ends us at once: the launcher ends the commands, only the results so far are lost.
        exit::say(&format!("underhood: interrupts cannot be caught ({error})"));
    }
    exit::code_of(cli.run())
}

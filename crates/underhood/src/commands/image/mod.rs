//! `underhood image`: executables and shared libraries, made to order and inspected.

pub mod generate;
pub mod inspect;

use crate::context::Context;
use crate::exit::{Done, Failure};

/// Arguments of `image`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Build a program and libraries whose loading is to be measured
    Generate(Box<generate::Args>),
    /// Say what a loader will have to do for a file, without running it
    Inspect(inspect::Args),
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    match &args.command {
        Command::Generate(args) => generate::run(args, context),
        Command::Inspect(args) => inspect::run(args, context),
    }
}

//! `underhood image`: executables and shared libraries, made to order and inspected.

pub mod bind;
pub mod elf;
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
    /// Bind
    Bind(bind::Args),
    /// Verify
    Verify(bind::Places),
    /// Undo
    Undo(bind::Places),
    /// Say what a loader will have to do for a file, without running it
    Inspect(inspect::Args),
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    match &args.command {
        Command::Generate(args) => generate::run(args, context),
        Command::Bind(args) => bind::run(args, context),
        Command::Verify(args) => elf::verify(&args.places, context),
        Command::Undo(args) => elf::undo(&args.places, context),
        Command::Inspect(args) => inspect::run(args, context),
    }
}

//! `underhood image`: executables and shared libraries, made to order, inspected, rebased and bound.

pub mod bind;
pub mod elf;
pub mod generate;
pub mod inspect;
mod pe;
pub mod rebase;

use std::path::PathBuf;

use crate::context::Context;
use crate::exit::{Done, Failure};
use crate::rewriting;

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
    /// Give each file of a set an address of its own, so that nothing is moved when it is loaded
    Rebase(rebase::Args),
    /// Find the addresses of all imports once, and not at every start
    Bind(bind::Args),
    /// Prove that bound copies are, loaded, the same as their originals
    Verify(Places),
    /// Remove bound copies of ELF programs; put back the originals of PE files
    Undo(Places),
}

/// Bound copies, their folders, or changed files.
#[derive(Debug, clap::Args)]
pub struct Places {
    /// Bound copies or folders of them; changed PE files
    #[arg(required = true, value_name = "FILE")]
    places: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    match &args.command {
        Command::Generate(args) => generate::run(args, context),
        Command::Rebase(args) => rebase::run(args, context),
        Command::Bind(args) => bind::run(args, context),
        Command::Verify(args) => elf::verify(&args.places, context),
        Command::Undo(args) => undo(&args.places, context),
        Command::Inspect(args) => inspect::run(args, context),
    }
}

/// Takes back what `rebase` and `bind` did.
fn undo(places: &[PathBuf], context: &Context) -> Result<Done, Failure> {
    for place in places {
        let copies = elf::copies(place)?;
        if copies.is_empty() {
            let path = place
                .canonicalize()
                .map_err(|error| Failure::usage(format!("find {}: {error}", place.display())))?;
            let told = if rewriting::undo(&path)? {
                "is as it was"
            } else {
                "was not changed by underhood"
            };
            context.remark(&format!("{} {told}", place.display()));
        } else {
            elf::undo(&copies, context)?;
        }
    }
    Ok(Done::OK)
}

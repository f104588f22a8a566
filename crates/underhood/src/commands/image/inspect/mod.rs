//! `underhood image inspect`: what a loader will have to do for a file, found without running it.

mod elf;
mod pe;

use std::path::PathBuf;

use crate::closure::LARGEST;
use crate::context::Context;
use crate::exit::{Done, Failure};

/// Arguments of `image inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program or library
    file: PathBuf,
    /// Also everything that it needs, in the order in which the loader would load it, with each place searched
    #[arg(long)]
    closure: bool,
    /// With --closure: also run the program to its entry point a few times and put the measured time beside the estimate. Of
    /// the program itself nothing runs, but the constructors of its libraries do
    #[arg(long, requires = "closure")]
    measure: bool,
    /// Which heap the program gets and why, and whether it can be given another
    #[arg(long, conflicts_with = "closure")]
    heap: bool,
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    let failed = |why: String| Failure::usage(format!("read {}: {why}", args.file.display()));
    let meta = std::fs::metadata(&args.file).map_err(|error| failed(error.to_string()))?;
    if !meta.is_file() || meta.len() > LARGEST {
        return Err(failed("it is not a regular file of at most 4 GiB".to_owned()));
    }
    let bytes = std::fs::read(&args.file).map_err(|error| failed(error.to_string()))?;
    match bytes.as_slice() {
        [0x7f, b'E', b'L', b'F', ..] => elf::run(args, &bytes, context),
        [b'M', b'Z', ..] => pe::run(args, &bytes, context),
        _ => Err(failed("it is neither an ELF nor a PE file".to_owned())),
    }
}

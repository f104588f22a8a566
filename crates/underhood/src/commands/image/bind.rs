//! `underhood image bind`: the addresses of imports are found once, and not at every start.

use std::path::{Path, PathBuf};

use super::{elf, pe};
use crate::context::Context;
use crate::exit::{Done, Failure};

/// Arguments of `image bind`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An ELF program gets a bound copy in --out, together with its libraries; the original is not changed, and runs whenever \
                  the copy would be wrong. PE files are bound to each other where they are, or into --out; rebase them first."
)]
pub struct Args {
    /// One ELF program, or the PE files of a set; with --refresh bound copies or their folders
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder for the results; an ELF program needs one
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// ELF: make bound copies again, at other addresses and from the originals as they are now
    #[arg(long, conflicts_with_all = ["out", "noticing"])]
    refresh: bool,
    #[command(flatten)]
    copies: elf::CopyOptions,
    #[command(flatten)]
    in_place: pe::FileOptions,
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    if args.refresh {
        return elf::refresh(&args.files, context);
    }
    match only_elf(&args.files)? {
        Some(program) => elf::bind(program, args.out.as_deref(), true, &args.copies, context),
        None => pe::bind(&args.files, args.out.as_deref(), &args.in_place, context),
    }
}

/// The ELF program, if the first file is one; then it must be the only one.
pub fn only_elf(files: &[PathBuf]) -> Result<Option<&Path>, Failure> {
    let Some(first) = files.first() else {
        return Ok(None);
    };
    let mut magic = [0; 4];
    let read = std::fs::File::open(first).and_then(|mut file| std::io::Read::read(&mut file, &mut magic));
    let read = read.map_err(|error| Failure::usage(format!("read {}: {error}", first.display())))?;
    match magic.get(..read) {
        Some(b"\x7fELF") if files.len() == 1 => Ok(Some(first)),
        Some(b"\x7fELF") => Err(Failure::usage(format!(
            "take {} ELF files at once; give one program: its libraries are found as the loader finds them",
            files.len()
        ))),
        Some([b'M', b'Z', ..]) => Ok(None),
        _ => Err(Failure::usage(format!(
            "read {}: it is neither an ELF nor a PE file",
            first.display()
        ))),
    }
}

//! provisional
use crate::context::Context;
use crate::exit::{Done, Failure};
use std::path::PathBuf;
/// Args
#[derive(Debug, clap::Args)]
pub struct Args {
    /// files
    files: Vec<PathBuf>,
    /// out
    #[arg(long)]
    out: Option<PathBuf>,
    /// refresh
    #[arg(long)]
    refresh: bool,
    /// noticing
    #[arg(long)]
    noticing: bool,
    /// verify
    #[arg(long)]
    no_verify: bool,
    /// move
    #[arg(long)]
    only_move: bool,
}
/// Places
#[derive(Debug, clap::Args)]
pub struct Places {
    /// places
    pub places: Vec<PathBuf>,
}
/// run
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    if args.refresh {
        return super::elf::refresh(&args.files, context);
    }
    super::elf::bind(
        &super::elf::Wanted {
            program: &args.files[0],
            out: args.out.as_deref().unwrap(),
            bind: !args.only_move,
            noticing: args.noticing,
            verify: !args.no_verify,
        },
        context,
    )
}

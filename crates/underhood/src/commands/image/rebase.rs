//! `underhood image rebase`: each file gets an address of its own, so that nothing is moved when it is loaded.

use std::ops::Range;
use std::path::PathBuf;

use super::bind::only_elf;
use super::{elf, pe};
use crate::context::Context;
use crate::exit::{Done, Failure};

/// Arguments of `image rebase`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "PE files are changed where they are, or copied into --out. An ELF program gets a moved copy in --out, together with its \
                  libraries: only the first half of `image bind`."
)]
pub struct Args {
    /// The PE files of a set, or one ELF program
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder for the results; an ELF program needs one
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// PE: the first address, or with --down the first that is not used any more; a multiple of 64 KiB
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    base: Option<u64>,
    /// PE: from high addresses to low ones
    #[arg(long)]
    down: bool,
    /// PE: clear DYNAMIC_BASE, with which today's Windows chooses addresses itself
    #[arg(long)]
    clear_dynamic_base: bool,
    /// PE: bytes that stay free behind each image for later versions, such as 0x100000
    #[arg(long, value_name = "BYTES", value_parser = address, default_value = "0x10000")]
    room: u64,
    /// PE: addresses that no file may get, such as 0x10000000-0x20000000; repeatable
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    exclude: Vec<Range<u64>>,
    #[command(flatten)]
    copies: elf::CopyOptions,
    #[command(flatten)]
    in_place: pe::FileOptions,
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    if let Some(program) = only_elf(&args.files)? {
        return elf::bind(program, args.out.as_deref(), false, &args.copies, context);
    }
    let layout = pe::Layout {
        base: args.base,
        down: args.down,
        clear_dynamic_base: args.clear_dynamic_base,
        room: args.room,
        exclude: args.exclude.clone(),
    };
    pe::rebase(&args.files, layout, args.out.as_deref(), &args.in_place, context)
}

/// A number, hexadecimal behind 0x.
fn address(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "it must be a number such as 0x10000000 or 65536".to_owned())
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text
        .split_once('-')
        .ok_or("it must be two addresses with - between them")?;
    let (from, to) = (address(from)?, address(to)?);
    if from < to {
        Ok(from..to)
    } else {
        Err("the second address must be above the first".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_both_notations() {
        assert_eq!(address("0x10000"), Ok(65_536));
        assert_eq!(address("65536"), Ok(65_536));
        assert!(address("-1").is_err() && address("0x").is_err() && address("").is_err());
        assert_eq!(range("0x10000-0x20000"), Ok(0x10000..0x20000));
        assert!(range("5").is_err() && range("2-1").is_err());
    }
}

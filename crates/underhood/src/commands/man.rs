//! `underhood man`: the manual pages, made from the command line's own description.

use std::path::PathBuf;

use clap_mangen::Man;

use crate::exit::{self, COMMAND_FAILED, Done, Failure};

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write one page a command into this directory; without it the main page goes to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes the pages.
pub fn run(args: Args, command: clap::Command) -> Result<Done, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(COMMAND_FAILED, format!("write the manual pages: {error}"));
    let Some(directory) = args.out else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page).map_err(failed)?;
        exit::print(&String::from_utf8_lossy(&page))?;
        return Ok(Done::OK);
    };
    std::fs::create_dir_all(&directory).map_err(failed)?;
    clap_mangen::generate_to(command, &directory).map_err(failed)?;
    Ok(Done::OK)
}

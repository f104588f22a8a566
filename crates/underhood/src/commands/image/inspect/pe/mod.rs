//! `image inspect` of PE files.

mod closure;
mod document;
mod heap;

use image::pe::{File, Unreadable};
use record::format::inspect::{Document, SCHEMA};

use super::Args;
use crate::context::Context;
use crate::exit::{Done, Failure};

/// Inspects one file.
pub fn run(args: &Args, bytes: &[u8], context: &Context) -> Result<Done, Failure> {
    let shown = args.file.display().to_string();
    let failed = |error: Unreadable| Failure::usage(format!("inspect {shown}: {error}"));
    let file = File::read(bytes).map_err(failed)?;
    let mut inspection = document::of(&file).map_err(failed)?;
    if args.closure {
        inspection.closure = Some(closure::of(&args.file, bytes)?);
    }
    if args.heap {
        inspection.heap = Some(heap::of(&file).map_err(failed)?);
    }
    let document = Document {
        schema: SCHEMA.to_owned(),
        file: shown,
        elf: None,
        pe: Some(inspection),
    };
    let report = report::inspect::pe::report(&document);
    context.publish(&report, &record::format::to_text(&document))?;
    Ok(Done::OK)
}

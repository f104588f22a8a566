//! `image bind`, `rebase`, `verify` and `undo` for ELF programs.

use std::path::{Path, PathBuf};

use record::format::bound::Document;

use crate::bound::{self, Request};
use crate::context::Context;
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Done, Failure};
use crate::progress::Progress;

/// What is asked of a copy.
#[derive(Debug, clap::Args)]
pub struct CopyOptions {
    /// ELF: bind it also if it may notice where its copy lies (it asks for /proc/self/exe)
    #[arg(long)]
    noticing: bool,
    /// ELF: do not compare the loaded copy with the loaded original
    #[arg(long)]
    no_verify: bool,
}

/// A copy that is to be made.
struct Wanted<'a> {
    program: &'a Path,
    out: &'a Path,
    bind: bool,
    noticing: bool,
    verify: bool,
}

/// Makes a bound copy, or with `symbols` false one that is only moved.
pub fn bind(
    program: &Path,
    out: Option<&Path>,
    symbols: bool,
    options: &CopyOptions,
    context: &Context,
) -> Result<Done, Failure> {
    let out = out.ok_or_else(|| {
        Failure::usage(format!(
            "copy {}: give a folder with --out DIR; an ELF program is not changed itself",
            program.display()
        ))
    })?;
    let wanted = Wanted {
        program,
        out,
        bind: symbols,
        noticing: options.noticing,
        verify: !options.no_verify,
    };
    let document = made(&wanted, context)?;
    context.publish(
        &report::bound::made(&document),
        &record::format::to_text(&document),
    )?;
    Ok(Done::OK)
}

fn made(wanted: &Wanted<'_>, context: &Context) -> Result<Document, Failure> {
    let request = Request {
        program: std::path::absolute(wanted.program)?,
        out: wanted.out.to_owned(),
        bind: wanted.bind,
        noticing: wanted.noticing,
        verify: wanted.verify,
    };
    let progress = Progress::new(context.common.quiet);
    let start = std::time::Instant::now();
    let result = bound::make(&request, &mut |share, what| {
        let left = start.elapsed().mul_f64((1.0 - share) / share.max(0.01));
        progress.tell(share, left, what);
    });
    progress.finish();
    result
}

/// Makes the bound copies in these places again, at other addresses, from the originals as they are now.
pub fn refresh(places: &[PathBuf], context: &Context) -> Result<Done, Failure> {
    let mut failures = Vec::new();
    for document in all(places)? {
        let out = Path::new(&document.copy)
            .parent()
            .unwrap_or(Path::new("/"))
            .to_owned();
        let wanted = Wanted {
            program: Path::new(&document.program),
            out: &out,
            bind: document.bound,
            noticing: document.noticing,
            verify: document.verified.is_some(),
        };
        match made(&wanted, context) {
            Ok(new) => context.publish(&report::bound::made(&new), &record::format::to_text(&new))?,
            // The old copy stays, and runs the original where it does not fit any more.
            Err(failure) => failures.push(format!("{}: {}", document.copy, failure.message)),
        }
    }
    if failures.is_empty() {
        Ok(Done::OK)
    } else {
        Err(Failure::new(
            COMMAND_FAILED,
            format!("refresh {}", failures.join("; ")),
        ))
    }
}

/// Compares bound copies with their originals in memory.
pub fn verify(places: &[PathBuf], context: &Context) -> Result<Done, Failure> {
    let mut documents = all(places)?;
    for document in &mut documents {
        document.verified = Some(bound::verified(document)?);
    }
    context.publish(
        &report::bound::verified(&documents),
        &record::format::to_text(&documents),
    )?;
    let differences = documents.iter().flat_map(|document| &document.verified);
    let clean = differences.map(|verified| verified.differences).sum::<u64>() == 0;
    Ok(if clean { Done::OK } else { Done(CHECK_FAILED) })
}

/// Removes bound copies.
pub fn undo(documents: &[Document], context: &Context) -> Result<Done, Failure> {
    for document in documents {
        bound::remove(document)?;
        context.remark(&format!(
            "{} and its libraries are removed; {} is as it was",
            document.copy, document.program
        ));
    }
    Ok(Done::OK)
}

/// The bound copies in a place; none when it is something else.
pub fn copies(place: &Path) -> Result<Vec<Document>, Failure> {
    bound::documents(place)
}

/// The bound copies in these places; an error when there are none.
fn all(places: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for place in places {
        let found = copies(place)?;
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "find a bound copy in {}",
                place.display()
            )));
        }
        documents.extend(found);
    }
    Ok(documents)
}

//! `image rebase`, `bind` and `undo` for PE files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use image::pe;
use record::format::rewrite::{BIND, Bound, BoundFile, Left, REBASE, Rebased, RebasedFile};

use crate::closure::LARGEST;
use crate::context::Context;
use crate::exit::{Done, Failure, UNSUPPORTED};
use crate::rewriting::{self, Change, Target};

/// Where changed files go, and what is allowed to be lost.
#[derive(Debug, clap::Args)]
pub struct FileOptions {
    /// PE: take signatures off; they would not hold any more
    #[arg(long)]
    pub strip_signature: bool,
    /// PE: do not keep the originals beside the changed files
    #[arg(long, conflicts_with = "out")]
    pub no_backup: bool,
    /// PE: say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl FileOptions {
    fn target(&self, out: Option<&Path>) -> Target {
        match out {
            _ if self.dry_run => Target::Nowhere,
            Some(folder) => Target::Folder(folder.to_owned()),
            None => Target::Place {
                keep: !self.no_backup,
            },
        }
    }
}

/// Files with their names, each once and no link.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn read(files: &[PathBuf]) -> Result<Files, Failure> {
    let mut read: Files = Vec::new();
    for file in files {
        let failed = |why: &dyn std::fmt::Display| Failure::usage(format!("read {}: {why}", file.display()));
        let path = file.canonicalize().map_err(|error| failed(&error))?;
        if read.iter().any(|(other, _)| *other == path) {
            continue;
        }
        let metadata = std::fs::metadata(&path).map_err(|error| failed(&error))?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err(failed(&"it is not a regular file of at most 4 GiB"));
        }
        let bytes = std::fs::read(&path).map_err(|error| failed(&error))?;
        if !bytes.starts_with(b"MZ") {
            return Err(failed(&"it is not a PE file, as the first one is"));
        }
        read.push((path, bytes));
    }
    Ok(read)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn short(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How a set is to be laid out.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The first address.
    pub base: Option<u64>,
    /// From high addresses to low ones.
    pub down: bool,
    /// Whether Windows' own choice of address is turned off.
    pub clear_dynamic_base: bool,
    /// Bytes that stay free behind each image.
    pub room: u64,
    /// Addresses that no file may get.
    pub exclude: Vec<Range<u64>>,
}

/// Gives each file of a set an address of its own.
pub fn rebase(
    files: &[PathBuf],
    layout: Layout,
    out: Option<&Path>,
    options: &FileOptions,
    context: &Context,
) -> Result<Done, Failure> {
    let files = read(files)?;
    // A new stamp tells files that were bound to an earlier version that this is another one.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let how = pe::rebase::Options {
        base: layout.base,
        down: layout.down,
        room: layout.room,
        exclude: layout.exclude,
        clear_dynamic_base: layout.clear_dynamic_base,
        strip_signature: options.strip_signature,
        stamp: now.ok().and_then(|now| u32::try_from(now.as_secs()).ok()),
    };
    let names: Vec<String> = files.iter().map(|(path, _)| shown(path)).collect();
    let pairs = names
        .iter()
        .map(String::as_str)
        .zip(files.iter().map(|(_, bytes)| bytes.as_slice()));
    let rebased = pe::rebase::rebase(pairs, &how).map_err(|why| match why {
        pe::rebase::Refused::Unreadable { .. } | pe::rebase::Refused::Base(_) => {
            Failure::usage(format!("rebase: {why}"))
        }
        _ => Failure::new(UNSUPPORTED, format!("rebase: {why}")),
    })?;
    let changes: Vec<Change> = files
        .iter()
        .zip(&rebased)
        .map(|((path, _), file)| Change {
            path: path.clone(),
            content: file.bytes.clone(),
        })
        .collect();
    let written = rewriting::write(&changes, &options.target(out))?;
    let document = Rebased {
        schema: REBASE.to_owned(),
        files: rebased
            .iter()
            .zip(&written)
            .map(|(file, (path, original))| RebasedFile {
                file: shown(path),
                from: format!("{:#x}", file.from),
                to: format!("{:#x}", file.to),
                fixups: file.fixups,
                original: original.as_deref().map(shown),
            })
            .collect(),
    };
    let report = report::rewrite::rebased(&document, options.dry_run);
    context.publish(&report, &record::format::to_text(&document))?;
    Ok(Done::OK)
}

/// Writes the addresses of imports into the files of a set.
pub fn bind(
    files: &[PathBuf],
    out: Option<&Path>,
    options: &FileOptions,
    context: &Context,
) -> Result<Done, Failure> {
    let files = read(files)?;
    let how = pe::bind::Options {
        strip_signature: options.strip_signature,
        even_dynamic_base: false,
    };
    let names: Vec<String> = files.iter().map(|(path, _)| short(path)).collect();
    let pairs = names
        .iter()
        .map(String::as_str)
        .zip(files.iter().map(|(_, bytes)| bytes.as_slice()));
    let bound = pe::bind::bind(pairs, how).map_err(|why| match why {
        pe::bind::Refused::Unreadable { .. } | pe::bind::Refused::Twice(_) => {
            Failure::usage(format!("bind: {why}"))
        }
        _ => Failure::new(UNSUPPORTED, format!("bind: {why}")),
    })?;
    let changes: Vec<Change> = files
        .iter()
        .zip(&bound)
        .map(|((path, _), file)| Change {
            path: path.clone(),
            content: file.bytes.clone(),
        })
        .collect();
    let written = rewriting::write(&changes, &options.target(out))?;
    let document = Bound {
        schema: BIND.to_owned(),
        files: bound
            .iter()
            .zip(&written)
            .map(|(file, (path, original))| BoundFile {
                file: shown(path),
                libraries: file.libraries.clone(),
                slots: file.slots,
                left: file
                    .left
                    .iter()
                    .map(|(library, reason)| Left {
                        library: library.clone(),
                        reason: reason.to_string(),
                    })
                    .collect(),
                original: original.as_deref().map(shown),
            })
            .collect(),
    };
    let report = report::rewrite::bound(&document, options.dry_run);
    context.publish(&report, &record::format::to_text(&document))?;
    Ok(Done::OK)
}

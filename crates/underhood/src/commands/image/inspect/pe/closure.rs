//! A file with the libraries beside it, in the reference loader; and what would make that faster.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use image::pe::File;
use image::pe::exports::{Target, forwarded};
use image::pe::loader::check::check;
use image::pe::loader::{Loaded, Options, Plan, Samples, Times as Nanoseconds, library_key};
use record::format::Number;
use record::format::inspect::pe::{Closure, Counts, Module, Remedy, Times};

use super::document::text;
use crate::exit::{CHECK_FAILED, Failure};

/// The article takes the fastest of so many.
const LOADS: usize = 30;
/// But not longer than this for one way of loading.
const LIMIT: Duration = Duration::from_secs(2);
/// More bytes than this are not read for one closure.
const MOST_BYTES: u64 = 4 << 30;
/// A saving of a smaller share is not spoken of.
const WORTH_IT: f64 = 0.03;

type Files = Vec<(String, Vec<u8>)>;

/// Loads the file with all that is found beside it.
pub fn of(path: &Path, bytes: &[u8]) -> Result<Closure, Failure> {
    let root = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let files = collect(path, &root, bytes)?;
    let refused =
        |why: &dyn std::fmt::Display| Failure::new(CHECK_FAILED, format!("load {}: {why}", path.display()));
    let plan = plan(&files, &root).map_err(|why| refused(&why))?;
    let samples = plan.repeat(LOADS, LIMIT).map_err(|why| refused(&why))?;
    let checked = check(&plan, &samples.loaded).map_err(|why| refused(&why))?;
    let loaded = &samples.loaded;
    Ok(Closure {
        modules: modules(&plan, loaded),
        outside: loaded.system.iter().map(|name| text(name)).collect(),
        counts: counts(loaded),
        loads: samples.times.len() as u64,
        fastest: times(samples.fastest()),
        checked_slots: checked.slots,
        differences: checked.differences,
        remedy: remedy(&samples),
    })
}

fn plan<'a>(files: &'a Files, root: &str) -> Result<Plan<'a>, image::pe::loader::Refused> {
    let borrowed = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    Plan::new(borrowed, root, Options::default())
}

/// The file and all that it may need of what lies in its folder, whatever the case of the names.
fn collect(path: &Path, root: &str, bytes: &[u8]) -> Result<Files, Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut beside: HashMap<Vec<u8>, PathBuf> = HashMap::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    // Of two spellings of one name the first is taken, as a case-insensitive file system has only one.
    paths.sort_unstable();
    for path in paths {
        if let Some(name) = path.file_name() {
            beside.entry(library_key(name.as_encoded_bytes())).or_insert(path);
        }
    }
    let mut met: HashSet<Vec<u8>> = HashSet::from([library_key(root.as_bytes())]);
    let mut files = vec![(root.to_owned(), bytes.to_vec())];
    let mut total = bytes.len() as u64;
    let mut next = 0;
    while let Some((_, bytes)) = files.get(next) {
        for library in needed(bytes) {
            if !met.insert(library.clone()) {
                continue;
            }
            let Some(path) = beside.get(&library).filter(|path| path.is_file()) else {
                continue;
            };
            total += std::fs::metadata(path)?.len();
            if total > MOST_BYTES {
                return Err(Failure::usage("read the closure: it has more than 4 GiB"));
            }
            let bytes = std::fs::read(path)
                .map_err(|error| Failure::usage(format!("read {}: {error}", path.display())))?;
            // Something of another kind under this name is as good as nothing.
            if File::read(&bytes).is_ok() {
                let name = path.file_name().unwrap_or_default();
                files.push((name.to_string_lossy().into_owned(), bytes));
            }
        }
        next += 1;
    }
    Ok(files)
}

/// Libraries that a file imports from or forwards to. A damaged file names none; the loader will say what is wrong with it.
fn needed(bytes: &[u8]) -> Vec<Vec<u8>> {
    let Ok(file) = File::read(bytes) else {
        return Vec::new();
    };
    let imports = file.imports().unwrap_or_default();
    let mut names: Vec<_> = imports.iter().map(|import| library_key(import.library)).collect();
    for export in file.exports().unwrap_or_default().exports {
        if let Target::Forwarder(to) = export.target
            && let Some((library, _)) = forwarded(to)
        {
            names.push(library_key(library));
        }
    }
    names
}

fn modules(plan: &Plan<'_>, loaded: &Loaded) -> Vec<Module> {
    let files: Vec<_> = plan.files().collect();
    let mut modules = Vec::new();
    for (index, module) in loaded.modules.iter().enumerate() {
        let Some((name, file)) = files.get(module.file) else {
            continue;
        };
        let wanted = file.headers.preferred();
        let before = loaded.modules.iter().take(index);
        let collides_with = before
            .filter(|other| {
                let end = other.base.saturating_add(other.image.len() as u64);
                module.moved && other.base < wanted.end && wanted.start < end
            })
            .map(|other| plan.name(other.file).to_owned())
            .next();
        modules.push(Module {
            file: (*name).to_owned(),
            preferred: format!("{:#x}", wanted.start),
            base: format!("{:#x}", module.base),
            moved: module.moved,
            collides_with,
            fixups: module.fixups,
            dirtied_pages: module.dirty.count(),
            dynamic_base: file.headers.has_dynamic_base(),
        });
    }
    modules
}

fn counts(loaded: &Loaded) -> Counts {
    let counts = loaded.counts;
    Counts {
        modules: counts.modules,
        moved: counts.moved,
        fixups: counts.fixups,
        names: counts.names,
        comparisons: counts.comparisons,
        hint_hits: counts.hint_hits,
        ordinals: counts.ordinals,
        forwarded: counts.forwarded,
        bound: counts.bound,
        stale: counts.stale,
        written: counts.written,
        outside: counts.system,
        dirtied_pages: counts.dirtied,
        fixup_pages: counts.fixup_pages,
    }
}

fn times(times: Nanoseconds) -> Times {
    let microseconds = |nanoseconds: u64| Number(nanoseconds as f64 / 1000.0);
    Times {
        total_us: microseconds(times.total),
        map_us: microseconds(times.map),
        fixups_us: microseconds(times.fixups),
        imports_us: microseconds(times.imports),
    }
}

/// The phase that takes longer, and what would do away with it.
fn remedy(samples: &Samples) -> Option<Remedy> {
    let number = |count: u64| report::quantity::text(count as f64, record::model::Unit::Count);
    let counts = samples.loaded.counts;
    let fastest = samples.fastest();
    let root_moved = samples.loaded.modules.first().is_some_and(|root| root.moved);
    let (moved, of) = if root_moved {
        (counts.moved, format!("{} files", counts.modules))
    } else {
        (
            counts.moved,
            format!("{} libraries", counts.modules.saturating_sub(1)),
        )
    };
    let (name, saves, sentence) = if fastest.fixups >= fastest.imports && counts.fixups > 0 {
        let sentence = format!(
            "{moved} of {of} are moved: rebasing removes {} fixups and {} dirtied pages.",
            number(counts.fixups),
            number(counts.fixup_pages),
        );
        ("rebase", fastest.fixups, sentence)
    } else if counts.names > 0 {
        let first = if counts.moved > 0 {
            "rebase and bind"
        } else {
            "bind"
        };
        let sentence = format!(
            "{} names are looked up with {} comparisons: {first}, or import by ordinal.",
            number(counts.names),
            number(counts.comparisons),
        );
        ("bind", fastest.imports, sentence)
    } else {
        return None;
    };
    (saves as f64 > WORTH_IT * fastest.total as f64).then(|| Remedy {
        name: name.to_owned(),
        saves_us: Number(saves as f64 / 1000.0),
        sentence,
    })
}

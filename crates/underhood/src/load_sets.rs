//! The sets of libraries that cases of the load suite are about, built before the first trial and removed after the last.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use measure::case_plan::Plan;
use record::model::{Unsupported, Warning};
use suites::load::set;
use suites::load::subject::Treatment;
use tempfile::TempDir;

use crate::bound;
use crate::exit::{COMMAND_FAILED, Failure, INTERRUPTED};
use crate::progress::Progress;
use crate::scratch;
use crate::set_builder;

/// The parameter that tells in which of several folders a case's set is.
const PLACE: &str = "folder";

/// Builds what the plan needs and tells the cases where it is. A set that cannot be built makes its cases unsupported, with the
/// reason. With several folders each case becomes one for each, and what the numbers of the folders mean is told in words. The sets are removed when
/// the result is dropped.
pub fn provide(
    plan: &mut Plan,
    folders: &[PathBuf],
    quiet: bool,
) -> Result<(Vec<TempDir>, Vec<Warning>), Failure> {
    let words = spread(plan, folders);
    let home = os::dirs::cache_dir()?;
    let progress = Progress::new(quiet);
    let start = Instant::now();
    let all = plan
        .cases
        .iter()
        .filter(|planned| planned.case.suite == "load")
        .count();
    let mut built: HashMap<String, Result<TempDir, String>> = HashMap::new();
    let mut failed = Vec::new();
    let cases = plan
        .cases
        .iter_mut()
        .filter(|planned| planned.case.suite == "load");
    for (done, planned) in cases.enumerate() {
        let set = set::of(&planned.case).map_err(Failure::usage)?;
        // Cases that differ in other things share a set.
        let treatment = set::treatment(&planned.case);
        let place = planned
            .case
            .parameter(PLACE)
            .and_then(|number| folders.get(number.parse::<usize>().ok()?.checked_sub(1)?))
            .unwrap_or(&home);
        let key = format!("{set:?} {treatment:?} {}", place.display());
        if !built.contains_key(&key) {
            let made = make(&set, treatment, place, &mut |share, what| {
                let whole = (done as f64 + share) / all.max(1) as f64;
                let left = start.elapsed().mul_f64((1.0 - whole) / whole.max(0.001));
                progress.tell(whole, left, what);
            });
            if let Err(failure) = &made
                && failure.code == INTERRUPTED
            {
                progress.finish();
                return Err(Failure::new(INTERRUPTED, failure.message.clone()));
            }
            built.insert(key.clone(), made.map_err(|failure| failure.message));
        }
        match built.get(&key) {
            Some(Ok(folder)) => planned
                .environment
                .push((set::FOLDER.to_owned(), folder.path().display().to_string())),
            Some(Err(reason)) => failed.push((planned.case.clone(), format!("failed to {reason}"))),
            None => {}
        }
    }
    progress.finish();
    plan.cases
        .retain(|planned| failed.iter().all(|(case, _)| *case != planned.case));
    plan.unsupported
        .extend(failed.into_iter().map(|(case, reason)| Unsupported {
            case: case.to_string(),
            reason,
        }));
    Ok((built.into_values().filter_map(Result::ok).collect(), words))
}

/// Makes one case for each folder out of every case of the suite.
fn spread(plan: &mut Plan, folders: &[PathBuf]) -> Vec<Warning> {
    if folders.is_empty() {
        return Vec::new();
    }
    let (of_load, mut cases): (Vec<_>, Vec<_>) = std::mem::take(&mut plan.cases)
        .into_iter()
        .partition(|planned| planned.case.suite == "load");
    for number in 1..=folders.len() {
        cases.extend(of_load.iter().cloned().map(|mut planned| {
            planned
                .case
                .parameters
                .push((PLACE.to_owned(), number.to_string()));
            planned
        }));
    }
    plan.cases = cases;
    let numbered = folders.iter().enumerate();
    numbered
        .map(|(index, folder)| {
            Warning::new("folder", format!("folder {} is {}", index + 1, folder.display()))
        })
        .collect()
}

fn make(
    set: &image::generate::Set,
    treatment: Treatment,
    place: &Path,
    tell: &mut dyn FnMut(f64, &str),
) -> Result<TempDir, Failure> {
    let folder = scratch::folder(place)
        .map_err(|error| Failure::usage(format!("build a set in {}: {error}", place.display())))?;
    set_builder::find_linker(set)?;
    let made = set_builder::make(folder.path(), set, tell)?;
    set_builder::verify(folder.path(), set, &made)?;
    if treatment != Treatment::None && set.format == image::generate::Format::Elf {
        let request = bound::Request {
            program: folder.path().join(set.program_name()),
            out: folder.path().join(set::TREATED),
            bind: treatment == Treatment::Bound,
            noticing: false,
            verify: false,
        };
        bound::make(&request, &mut |_, _| {})?;
    } else if treatment != Treatment::None {
        let names = made.libraries.iter().map(|(name, _)| name.clone());
        let names: Vec<String> = names.chain([set.program_name().to_owned()]).collect();
        treat(folder.path(), &names, treatment == Treatment::Bound)?;
    }
    Ok(folder)
}

/// Rebases the files of a set that we made, and binds them.
fn treat(folder: &Path, names: &[String], bound: bool) -> Result<(), Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::new(COMMAND_FAILED, format!("rebase and bind the set: {why}"));
    let files: Vec<Vec<u8>> = names
        .iter()
        .map(|name| std::fs::read(folder.join(name)))
        .collect::<Result<_, _>>()?;
    let named = |files: &'_ [Vec<u8>]| -> Vec<(String, Vec<u8>)> {
        names.iter().cloned().zip(files.iter().cloned()).collect()
    };
    let options = image::pe::rebase::Options {
        clear_dynamic_base: true,
        ..image::pe::rebase::Options::default()
    };
    let before = named(&files);
    let pairs = before
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let rebased = image::pe::rebase::rebase(pairs, &options).map_err(|why| failed(&why))?;
    let mut after: Vec<Vec<u8>> = rebased.into_iter().map(|file| file.bytes).collect();
    if bound {
        let based = named(&after);
        let pairs = based
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let bound =
            image::pe::bind::bind(pairs, image::pe::bind::Options::default()).map_err(|why| failed(&why))?;
        after = bound.into_iter().map(|file| file.bytes).collect();
    }
    for (name, bytes) in names.iter().zip(&after) {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

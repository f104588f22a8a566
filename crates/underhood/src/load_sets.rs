//! The sets of libraries that cases of the load suite are about, built before the first trial and removed after the last.

use std::collections::HashMap;
use std::time::Instant;

use measure::case_plan::Plan;
use record::model::Unsupported;
use suites::load::set;
use tempfile::TempDir;

use crate::exit::{Failure, INTERRUPTED};
use crate::progress::Progress;
use crate::scratch;
use crate::set_builder;

/// Builds what the plan needs and tells the cases where it is. A set that cannot be built makes its cases unsupported, with the
/// reason. The folders are removed when the result is dropped.
pub fn provide(plan: &mut Plan, quiet: bool) -> Result<Vec<TempDir>, Failure> {
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
        let key = format!("{set:?}");
        if !built.contains_key(&key) {
            let made = make(&set, &mut |share, what| {
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
    Ok(built.into_values().filter_map(Result::ok).collect())
}

fn make(set: &image::generate::Set, tell: &mut dyn FnMut(f64, &str)) -> Result<TempDir, Failure> {
    let folder = scratch::folder(&os::dirs::cache_dir()?)?;
    set_builder::find_linker(set)?;
    let made = set_builder::make(folder.path(), set, tell)?;
    set_builder::verify(folder.path(), set, &made)?;
    Ok(folder)
}

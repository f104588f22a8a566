//! Loading a PE program with many libraries, in the reference loader: the article's experiment, on any system.
//!
//! One operation is one load of the program and all of its libraries into memory that is there already; before each, the files are read
//! again, which is timed apart. Every load must have the result of the first one: the same images, byte for byte, at the same addresses.

use std::path::Path;

use image::pe::loader::{Counts, Options, Plan};
use measure::benchmark::{Benchmark, Info, MetricInfo, Preset};
use measure::model::{Case, Support, Unit};
use measure::trial::{Amount, Sample, Trial, TrialError};

use super::set::{self, CROSS, FUNCTIONS, GLOBALS, IMPORT, LIBRARIES, NAME_LENGTH};
use super::subject::TREATMENTS;

pub struct Pe;

const fn metric(name: &'static str, unit: Unit) -> MetricInfo {
    MetricInfo { name, unit }
}

const INFO: Info = Info {
    suite: "load",
    name: set::PE,
    summary: "load a PE program made of many libraries, in the reference loader",
    parameters: &[LIBRARIES, FUNCTIONS, GLOBALS, NAME_LENGTH, CROSS, IMPORT],
    metrics: &[
        metric("load_us", Unit::Microseconds),
        metric("map_us", Unit::Microseconds),
        metric("fixups_us", Unit::Microseconds),
        metric("imports_us", Unit::Microseconds),
        metric("read_us", Unit::Microseconds),
        metric("moved", Unit::Count),
        metric("fixups", Unit::Count),
        metric("names", Unit::Count),
        metric("comparisons", Unit::Count),
        metric("ordinals", Unit::Count),
        metric("dirtied_pages", Unit::Count),
        metric("file_bytes", Unit::Bytes),
    ],
    presets: &[Preset {
        name: "seed",
        summary: "the article's set: 10 libraries, 100 functions, 5 references",
        settings: &[("libraries", "10"), ("functions", "100"), ("globals", "5")],
    }],
    // Not even one page is copied faster.
    floor_ns: 50.0,
};

impl Benchmark for Pe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn takes(&self, subject: &str) -> bool {
        TREATMENTS.iter().any(|(name, ..)| *name == subject)
    }

    fn support(&self, case: &Case) -> Support {
        set::of(case).map_or_else(Support::No, |_| Support::Yes)
    }

    fn run(&self, trial: &mut Trial) -> Result<(), TrialError> {
        let folder = set::folder()?;
        let files = read(&folder)?;
        let clock = trial.clock();
        let mut read_us = Vec::new();
        let refused = |error: image::pe::loader::Refused| TrialError::Verification(error.to_string());
        let named = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let plan = Plan::new(named, "app.exe", Options::default()).map_err(refused)?;
        // The first load brings the memory, which the others use again.
        let first = plan.load().map_err(refused)?;
        let (fingerprint, counts) = (first.fingerprint(), first.counts);
        let mut phases: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::new());
        let mut loaded = Some(first);
        trial.collect(
            Amount::Fixed(1),
            |_| {
                let begin = clock.now();
                let same_files = read(&folder)? == files;
                read_us.push(clock.ns(begin, clock.now()) / 1e3);
                let again = plan.load_into(loaded.take()).map_err(refused)?;
                let times = again.times;
                let same = same_files && again.counts == counts && again.fingerprint() == fingerprint;
                loaded = Some(again);
                let of_phases = [times.total, times.map, times.fixups, times.imports];
                for (all, ns) in phases.iter_mut().zip(of_phases) {
                    all.push(ns as f64 / 1e3);
                }
                Ok(Sample {
                    elapsed_ns: times.total as f64,
                    threads: 1,
                    operations: 1,
                    verified: u64::from(same),
                    waited_ns: None,
                })
            },
            || 0.0,
        )?;
        for (name, all) in ["load_us", "map_us", "fixups_us", "imports_us"]
            .into_iter()
            .zip(&phases)
        {
            trial.median(name, all);
        }
        trial.median("read_us", &read_us);
        tell(trial, &counts);
        trial.value(
            "file_bytes",
            files.iter().map(|(_, bytes)| bytes.len() as f64).sum(),
        );
        Ok(())
    }
}

fn tell(trial: &mut Trial, counts: &Counts) {
    let columns = [
        ("moved", counts.moved),
        ("fixups", counts.fixups),
        ("names", counts.names),
        ("comparisons", counts.comparisons),
        ("ordinals", counts.ordinals),
        ("dirtied_pages", counts.dirtied),
    ];
    for (name, count) in columns {
        trial.value(name, count as f64);
    }
}

/// The program and its libraries, by file name.
fn read(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, TrialError> {
    let failed = |error| TrialError::System(format!("read {}", folder.display()), error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "app.exe" || name.ends_with(".dll") {
            files.push((name, std::fs::read(entry.path()).map_err(failed)?));
        }
    }
    files.sort();
    Ok(files)
}

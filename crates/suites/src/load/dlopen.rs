//! Loading a whole set of libraries into a process that runs, and unloading it: what a program with plug-ins pays.
//!
//! One operation is loading all of them, each with all of its functions bound. Unloading is outside of the time.

use std::path::{Path, PathBuf};

use image::generate::Set;
use measure::benchmark::{Benchmark, Info, MetricInfo};
use measure::model::{Case, Support, Unit};
use measure::trial::{Amount, Sample, Trial, TrialError};
use os::library::Library;

use super::set::{self, CROSS, FUNCTIONS, GLOBALS, LIBRARIES, NAME_LENGTH, REFERENCES};
use super::subject::WAYS;

pub struct Dlopen;

const INFO: Info = Info {
    suite: "load",
    name: "dlopen",
    summary: "load a set of libraries into a running process",
    parameters: &[LIBRARIES, FUNCTIONS, GLOBALS, REFERENCES, NAME_LENGTH, CROSS],
    metrics: &[MetricInfo {
        name: "us_per_library",
        unit: Unit::Microseconds,
    }],
    presets: &[],
    // Opening and mapping one file takes several system calls.
    floor_ns: 1_000.0,
};

impl Benchmark for Dlopen {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn takes(&self, subject: &str) -> bool {
        WAYS.iter().find(|way| way.name == subject).is_some_and(|way| {
            let mut set = Set::default();
            (way.apply)(&mut set);
            set.has_libraries()
        })
    }

    fn support(&self, case: &Case) -> Support {
        set::elf_support(case)
    }

    fn run(&self, trial: &mut Trial) -> Result<(), TrialError> {
        let folder = set::folder()?;
        let libraries = libraries(&folder)?;
        let clock = trial.clock();
        let mut samples_us = Vec::new();
        trial.collect(
            Amount::Fixed(1),
            |_| {
                let begin = clock.now();
                let loaded = libraries
                    .iter()
                    .map(|path| open(path))
                    .collect::<Result<Vec<_>, _>>()?;
                let elapsed_ns = clock.ns(begin, clock.now());
                samples_us.push(elapsed_ns / 1e3 / libraries.len().max(1) as f64);
                Ok(Sample {
                    elapsed_ns,
                    threads: 1,
                    operations: 1,
                    verified: u64::from(loaded.len() == libraries.len()),
                    waited_ns: None,
                })
            },
            || 0.0,
        )?;
        trial.median("us_per_library", &samples_us);
        Ok(())
    }
}

#[expect(unsafe_code, reason = "the code of a library runs when it is loaded")]
fn open(path: &Path) -> Result<Library, TrialError> {
    // SAFETY: the libraries are of our own making and have neither constructors nor destructors.
    unsafe { Library::open(path) }
        .map_err(|error| TrialError::System(format!("load {}", path.display()), error))
}

fn libraries(folder: &Path) -> Result<Vec<PathBuf>, TrialError> {
    let failed = |error| TrialError::System(format!("read {}", folder.display()), error);
    let mut libraries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "so") {
            libraries.push(path);
        }
    }
    libraries.sort();
    if libraries.is_empty() {
        return Err(TrialError::Case(format!("{} has no libraries", folder.display())));
    }
    Ok(libraries)
}

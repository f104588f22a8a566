//! Builds a set of libraries, and refuses to hand out one that is not what was asked for.

use std::path::Path;
use std::process::{Command, Stdio};

use image::count::{self, Counts};
use image::generate::recipe::{self, Step};
use image::generate::{self, Set, sources};

use crate::context::write_whole;
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure, INTERRUPTED, UNSUPPORTED};

/// What was built.
pub struct Made {
    /// How.
    pub steps: Vec<Step>,
    /// What is in the program.
    pub program: Counts,
    /// What is in each library, by file name.
    pub libraries: Files,
}

/// Writes and builds a set in a folder, and counts what is in the files. `tell` hears the share that is done and what is being
/// made.
pub fn make(folder: &Path, set: &Set, tell: &mut dyn FnMut(f64, &str)) -> Result<Made, Failure> {
    let steps = recipe::of(set);
    for source in sources::of(set) {
        write_whole(&folder.join(&source.name), &source.text)?;
    }
    build(folder, &steps, tell)?;
    let (program, libraries) = count_all(folder, set)?;
    Ok(Made {
        steps,
        program,
        libraries,
    })
}

/// Checks that what was built is what was asked for, and that it starts.
pub fn verify(folder: &Path, set: &Set, made: &Made) -> Result<(), Failure> {
    let counts: Vec<Counts> = made.libraries.iter().map(|(_, counts)| *counts).collect();
    generate::verify(set, &made.program, &counts).map_err(|differences| {
        Failure::new(
            CHECK_FAILED,
            format!(
                "build what was asked for; {}; do not time it",
                differences.join("; ")
            ),
        )
    })?;
    starts(folder, set, &made.program, &counts)
}

/// The compiler's own words about a linker that it does not find name another program.
pub fn find_linker(set: &Set) -> Result<(), Failure> {
    let Some(linker) = &set.linker else { return Ok(()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("ld.{linker}");
    if std::env::split_paths(&path).any(|folder| folder.join(&name).is_file()) {
        return Ok(());
    }
    Err(Failure::new(
        UNSUPPORTED,
        format!(
            "find the linker {name}; on Debian: apt-get install {}",
            recipe::linker_package(linker)
        ),
    ))
}

fn build(folder: &Path, steps: &[Step], tell: &mut dyn FnMut(f64, &str)) -> Result<(), Failure> {
    for (done, step) in steps.iter().enumerate() {
        if os::signal::interrupted() {
            return Err(Failure::new(INTERRUPTED, "build the set: interrupted"));
        }
        tell(done as f64 / steps.len() as f64, &step.makes);
        let output = Command::new(&step.program)
            .args(&step.args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| {
            Failure::new(
                UNSUPPORTED,
                format!(
                    "run {}: {error}; on Debian: apt-get install {}",
                    step.program,
                    recipe::package(&step.program)
                ),
            )
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last: Vec<_> = said.lines().rev().take(3).collect();
            return Err(Failure::new(
                COMMAND_FAILED,
                format!(
                    "make {}: {} ended with {}: {}",
                    step.makes,
                    step.program,
                    output.status,
                    last.into_iter().rev().collect::<Vec<_>>().join(" / ")
                ),
            ));
        }
    }
    Ok(())
}

type Files = Vec<(String, Counts)>;

fn count_all(folder: &Path, set: &Set) -> Result<(Counts, Files), Failure> {
    let counted = |name: &str| {
        let failed = |why: String| Failure::new(CHECK_FAILED, format!("count {name}: {why}"));
        let bytes = std::fs::read(folder.join(name)).map_err(|error| failed(error.to_string()))?;
        count::count(&bytes).map_err(|error| failed(error.to_string()))
    };
    let program = counted(set.program_name())?;
    let mut libraries = Vec::new();
    if set.has_libraries() {
        for (base, _) in set.files() {
            let name = set.file_name(&base);
            let counts = counted(&name)?;
            libraries.push((name, counts));
        }
    }
    Ok((program, libraries))
}

/// A program that the loader refuses must not be timed: its quick end would look like a fast start.
fn starts(folder: &Path, set: &Set, program: &Counts, libraries: &[Counts]) -> Result<(), Failure> {
    if libraries
        .iter()
        .chain([program])
        .any(|counts| counts.relr_without_promise)
    {
        return Err(Failure::new(
            CHECK_FAILED,
            "use what was built: this linker packs relocations without asking for GLIBC_ABI_DT_RELR, and glibc refuses such files; \
             take --linker bfd",
        ));
    }
    if set.format != Set::default().format {
        return Ok(());
    }
    let path = std::path::absolute(folder.join(set.program_name()))?;
    let output = Command::new(&path).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Failure::new(
            CHECK_FAILED,
            format!(
                "start {}: {}: {}",
                path.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        )),
        Err(error) => Err(Failure::new(
            CHECK_FAILED,
            format!("start {}: {error}", path.display()),
        )),
    }
}

//! Builds the files that Underhood needs beside itself, so that one binary can carry them.
//!
//! A trial runs in a program of its own, a command is started by a tiny static launcher, a bound copy has an interpreter
//! of its own, and another heap reaches a finished program only as a shared library. Cargo can neither depend on a
//! binary nor build one package with several profiles, so this script calls cargo again:
//!
//! | what | from | when |
//! |---|---|---|
//! | worker | this workspace | always, for the target of the outer build |
//! | launcher | `crates/launcher`, a workspace of its own | Linux |
//! | guard, a template | `crates/guard`, a workspace of its own | Linux with glibc on x86-64 |
//! | one library a heap, and the selector | `crates/heap-shim`, a workspace of its own | Linux with glibc |
//!
//! The inner builds write below `OUT_DIR`. In the shared target folder they would wait for the lock that
//! the outer cargo holds until this script ends: for ever.

#[path = "build/embed.rs"]
mod embed;
#[path = "build/nested.rs"]
mod nested;
#[path = "build/watch.rs"]
mod watch;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nested::Job;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error=failed to build the files that Underhood carries:");
            message.lines().for_each(|line| println!("cargo::error={line}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let bundle = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = bundle
        .join("../..")
        .canonicalize()
        .map_err(|e| format!("find the workspace: {e}"))?;
    let out = PathBuf::from(variable("OUT_DIR")?);
    // Where to keep the inner builds instead, so that outer builds with different profiles share them.
    // A hint only: another value must not cause a rebuild, so it is not declared to cargo.
    let builds = env::var_os("UNDERHOOD_BUNDLE_DIR").map_or_else(|| out.join("nested"), PathBuf::from);

    let jobs = jobs(&root, &builds)?;
    let results: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = jobs
            .iter()
            .map(|job| scope.spawn(|| nested::build(job)))
            .collect();
        running.into_iter().map(|thread| thread.join()).collect()
    });

    let mut files = Vec::new();
    for (job, result) in jobs.iter().zip(results) {
        let built = result.map_err(|_| format!("{}: the building thread panicked", job.title))??;
        if built.is_empty() {
            return Err(format!("{}: cargo reported no finished file", job.title));
        }
        for file in &built {
            watch::sources_of(file)?;
        }
        watch::file(&job.folder.join("Cargo.toml"));
        watch::file(&job.folder.join("Cargo.lock"));
        watch::file(&job.folder.join(".cargo/config.toml"));
        files.extend(built);
    }
    watch::file(&root.join(".cargo/config.toml"));
    for own in ["build.rs", "build/embed.rs", "build/nested.rs", "build/watch.rs"] {
        watch::file(&bundle.join(own));
    }
    embed::write(&files, &out)
}

/// The inner builds that this target needs.
fn jobs(root: &Path, builds: &Path) -> Result<Vec<Job>, String> {
    let target = variable("TARGET")?;
    let job = |title, folder: PathBuf, arguments| Job {
        title,
        folder,
        target: target.clone(),
        target_dir: builds.join(title),
        arguments,
        variables: &[],
    };
    let mut worker = job("worker", root.to_owned(), &["--package", "underhood-worker"]);
    // Line tables would double what every binary carries; symbol names stay, for profilers.
    worker.variables = &[("CARGO_PROFILE_RELEASE_STRIP", "debuginfo")];
    let mut jobs = vec![worker];
    if variable("CARGO_CFG_TARGET_OS")? == "linux" {
        jobs.push(job("launcher", root.join("crates/launcher"), &[]));
        if variable("CARGO_CFG_TARGET_ENV")? == "gnu" {
            jobs.push(job(
                "heap-shim",
                root.join("crates/heap-shim"),
                &["--workspace", "--exclude", "underhood-shim-tests"],
            ));
            if variable("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
                jobs.push(job("guard", root.join("crates/guard"), &[]));
            }
        }
    }
    Ok(jobs)
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("read {name}, which cargo sets for build scripts: {e}"))
}

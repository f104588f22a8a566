//! One call of cargo inside another.
//!
//! What the outer cargo puts into the environment of a build script is meant for that script. Handed on, some
//! of it would change what the inner build makes: coverage flags would put counters into
//! the loops that we time, and clippy's wrapper would check instead of compile. So the inner
//! build starts from the environment without them. What describes the tool chain stays: RUSTC,
//! RUSTC_WRAPPER, RUSTUP_TOOLCHAIN, linkers, CC and AR, CARGO_UNSTABLE_BUILD_STD, the job server.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A set of packages to build in release mode.
pub struct Job {
    /// What people call it.
    pub title: &'static str,
    /// The workspace, and the working folder (cargo looks for its configuration from there).
    pub folder: PathBuf,
    /// Target triple; always passed, so that the place of the results is known and flags
    /// for the target do not reach build scripts.
    pub target: String,
    /// The target folder of the inner build.
    pub target_dir: PathBuf,
    /// What to build.
    pub arguments: &'static [&'static str],
    /// What else to tell the inner build.
    pub variables: &'static [(&'static str, &'static str)],
}

/// Variables that cargo sets for this very script, by name.
const OWN: &[&str] = &[
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_RUSTFLAGS",
    "DEBUG",
    "HOST",
    "LLVM_PROFILE_FILE",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "TARGET",
];

/// The same, by the beginning of their names.
const OWN_PREFIXES: &[&str] = &["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "DEP_"];

/// Runs the inner cargo and returns the programs and shared libraries that it made.
pub fn build(job: &Job) -> Result<Vec<PathBuf>, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--locked",
            "--release",
            "--message-format=json-render-diagnostics",
            "--target",
            &job.target,
        ])
        .arg("--target-dir")
        .arg(&job.target_dir)
        .args(job.arguments)
        .current_dir(&job.folder)
        .stdin(Stdio::null());
    for (name, _) in env::vars_os() {
        let own = name.to_str().is_some_and(|name| {
            OWN.contains(&name) || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        });
        if own {
            command.env_remove(name);
        }
    }
    command.envs(job.variables.iter().copied());

    let output = command
        .output()
        .map_err(|e| format!("{}: start cargo: {e}", job.title))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_progress = |line: &&str| line.trim_start().starts_with("Compiling ");
        let said: Vec<_> = stderr.lines().filter(|line| !is_progress(line)).collect();
        return Err(format!(
            "{}: cargo ended with {} in {}:\n{}",
            job.title,
            output.status,
            job.folder.display(),
            said.join("\n")
        ));
    }
    finished_files(&output.stdout).map_err(|e| format!("{}: {e}", job.title))
}

/// Reads cargo's messages, one JSON object a line, for the files that a user could run or load.
fn finished_files(messages: &[u8]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for line in messages
        .split(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
    {
        let message: serde_json::Value =
            serde_json::from_slice(line).map_err(|e| format!("understand cargo's message: {e}"))?;
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        if let Some(program) = message["executable"].as_str() {
            files.push(PathBuf::from(program));
        } else if message["target"]["crate_types"]
            .as_array()
            .is_some_and(|types| types.iter().any(|t| t == "cdylib"))
        {
            let library = message["filenames"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|name| name.as_str())
                .find(|name| name.ends_with(env::consts::DLL_SUFFIX));
            files.extend(library.map(PathBuf::from));
        }
    }
    files.sort();
    Ok(files)
}

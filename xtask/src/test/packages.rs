//! The Debian packages that tests use, installed here when that is possible.
//!
//! Without them the tests would prove less than they seem to, so what is missing is either installed
//! (as root, with apt), or named with the one line to type.

use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;

/// Packages that are of use only together.
pub struct Group {
    /// What cannot be tested without them.
    pub purpose: &'static str,
    /// Their names in Debian 12.
    pub packages: &'static [&'static str],
}

/// Building for Windows, and running what was built. Debian's Rust has the sources of the standard library, which
/// the target (Windows 7 and later: Wine 8 lacks a library that newer targets load) needs.
pub const WINDOWS: Group = Group {
    purpose: "build for Windows and run under Wine",
    packages: &[
        "rustc-web",
        "cargo-web",
        "rust-web-src",
        "gcc-mingw-w64-x86-64",
        "wine64",
        "wine",
    ],
};

/// Heaps that Underhood must find on a machine, programs it is tested with, and compilers for the test programs.
pub const LINUX: Group = Group {
    purpose: "test with heaps and programs of the system",
    packages: &[
        "bubblewrap",
        "build-essential",
        "gcc-mingw-w64-x86-64",
        "hyperfine",
        "libjemalloc2",
        "libmimalloc2.0",
        "libtbbmalloc2",
        "libtcmalloc-minimal4",
        "musl-tools",
        "python3",
        "valgrind",
    ],
};

/// How often a download is tried again; mirrors fail now and then.
const ATTEMPTS: usize = 3;

/// Installs what is missing where it can, and returns what is missing after that.
pub fn provide(groups: &[&Group]) -> Result<Vec<&'static str>> {
    let wanted = || groups.iter().flat_map(|group| group.packages.iter().copied());
    if Command::new("dpkg-query").arg("--version").output().is_err() {
        println!("this is no Debian: whether its packages are there cannot be asked");
        return Ok(wanted().collect());
    }
    let missing: Vec<_> = wanted().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    match install(&missing) {
        Ok(()) => {}
        Err(error) => println!("failed to install packages: {error:#}"),
    }
    let missing: Vec<_> = missing
        .into_iter()
        .filter(|package| !is_installed(package))
        .collect();
    if !missing.is_empty() {
        println!("\nsome tests need packages that are missing; to install them, type:\n");
        println!("  {}\n", line_to_type(&missing));
    }
    Ok(missing)
}

/// What a person types to install these.
pub fn line_to_type(packages: &[&str]) -> String {
    format!(
        "sudo apt-get update && sudo apt-get install --yes --no-install-recommends {}",
        packages.join(" ")
    )
}

fn is_installed(package: &str) -> bool {
    Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status}", package])
        .output()
        .is_ok_and(|output| output.stdout == b"installed")
}

fn install(packages: &[&str]) -> Result<()> {
    if shell::output(Command::new("id").arg("-u"))?.trim() != "0" {
        bail!("only root may install packages");
    }
    let apt = |arguments: &[&str]| -> Result<bool> {
        let finished = shell::run(
            Command::new("apt-get")
                .args([
                    "--quiet",
                    "--yes",
                    "-o",
                    "Acquire::Retries=3",
                    "-o",
                    "DPkg::Lock::Timeout=300",
                ])
                .args(arguments)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )?;
        Ok(finished.status.success())
    };
    for _ in 0..ATTEMPTS {
        let done = apt(&["update"])? && {
            let mut arguments = vec!["install", "--no-install-recommends"];
            arguments.extend(packages);
            apt(&arguments)?
        };
        if done {
            return Ok(());
        }
    }
    bail!("apt-get did not succeed in {ATTEMPTS} attempts")
}

//! `cargo xtask package`: what a packager puts into an archive.
//!
//! ```text
//! dist/underhood-VERSION-TRIPLE/bin/underhood
//!                              /share/man/man1/*.1
//!                              /share/bash-completion/completions/underhood    (zsh, fish likewise)
//!                              /lib/systemd/system/underhood-refresh.service
//!                              /share/underhood/                               for a Debian package: triggers and postinst
//!                              /share/doc/underhood/                           README, licences, documents
//! ```
//!
//! The folder can be laid over `/usr/local` as it is: the binary carries everything else.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};

use crate::metadata::{cargo, host, metadata, root, target_dir};
use crate::shell;

/// Shells, and where each looks for completions.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/underhood"),
    ("fish", "share/fish/vendor_completions.d/underhood.fish"),
    ("zsh", "share/zsh/site-functions/_underhood"),
];

/// Files for those who bind programs for a whole machine: what makes the copies again at boot and after updates.
const PACKAGING: &[(&str, &str)] = &[
    (
        "packaging/underhood-refresh.service",
        "lib/systemd/system/underhood-refresh.service",
    ),
    ("packaging/debian.triggers", "share/underhood/debian.triggers"),
    ("packaging/debian.postinst", "share/underhood/debian.postinst"),
];

/// Documents that go along, beside all of docs/.
const DOCUMENTS: &[&str] = &["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the package into dist/, in place of one with the same name.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    if let Some(argument) = arguments.first() {
        bail!("understand {argument}: there are no options");
    }
    let mut build = cargo();
    build.args(["build", "--locked", "--release", "--package", "underhood"]);
    ensure!(
        shell::run(&mut build)?.status.success(),
        "cargo did not build the binary"
    );

    let package = root()
        .join("dist")
        .join(format!("underhood-{}-{}", version()?, host()?));
    if package.exists() {
        fs::remove_dir_all(&package).with_context(|| format!("remove {}", package.display()))?;
    }
    let program = format!("underhood{}", std::env::consts::EXE_SUFFIX);
    let binary = package.join("bin").join(&program);
    copy(&target_dir()?.join("release").join(program), &binary)?;
    let pages = package.join("share/man/man1");
    fs::create_dir_all(&pages).with_context(|| format!("create {}", pages.display()))?;
    shell::output(Command::new(&binary).args(["man", "--out"]).arg(&pages))?;
    for (name, place) in COMPLETIONS {
        let script = shell::output(Command::new(&binary).args(["completions", name]))?;
        write(&package.join(place), &script)?;
    }
    for (source, place) in PACKAGING {
        copy(&root().join(source), &package.join(place))?;
    }
    let documents = package.join("share/doc/underhood");
    for document in DOCUMENTS {
        copy(&root().join(document), &documents.join(document))?;
    }
    for document in fs::read_dir(root().join("docs")).context("list docs/")? {
        let document = document.context("list docs/")?;
        copy(
            &document.path(),
            &documents.join("docs").join(document.file_name()),
        )?;
    }
    println!("{}", package.display());
    Ok(ExitCode::SUCCESS)
}

fn version() -> Result<String> {
    let metadata = metadata(".", &["--no-deps"])?;
    let packages = metadata["packages"]
        .as_array()
        .context("find packages in the output of cargo metadata")?;
    let underhood = packages.iter().find(|package| package["name"] == "underhood");
    let version = underhood.and_then(|package| package["version"].as_str());
    Ok(version.context("find the version of underhood")?.to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    create_parent(to)?;
    fs::copy(from, to).with_context(|| format!("copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    create_parent(path)?;
    fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn create_parent(path: &Path) -> Result<()> {
    let parent = path
        .parent()
        .with_context(|| format!("find the folder of {}", path.display()))?;
    fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))
}

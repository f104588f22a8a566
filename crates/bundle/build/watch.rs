//! Which changes make the inner builds necessary again.
//!
//! The outer cargo reruns this script only when a declared file has changed. A list kept by hand would
//! grow stale, and watching whole folders would react to editors and to the target folders in them. But the
//! inner cargo knows: beside each finished file it leaves a dep-info file (`NAME.d`, a makefile rule) that names every
//! source of every package with a path, build scripts and what they declared included. A new file
//! only takes part once a file in that list mentions it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Declares the sources of a finished file, and the manifests of the packages that they belong to.
pub fn sources_of(finished: &Path) -> Result<(), String> {
    let rule = finished.with_extension("d");
    let text = fs::read_to_string(&rule).map_err(|e| format!("read {}: {e}", rule.display()))?;
    let mut manifests = BTreeSet::new();
    for source in prerequisites(&text) {
        let source = PathBuf::from(source);
        manifests.extend(manifest_of(&source));
        file(&source);
    }
    manifests.iter().for_each(|manifest| file(manifest));
    Ok(())
}

/// Declares one file, if it is there: cargo takes a missing one for changed, at every build.
pub fn file(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// What stands behind the colon of each rule; a blank inside a name is written `\ `.
fn prerequisites(rules: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in rules.lines() {
        let Some((_, list)) = line.split_once(": ") else {
            continue;
        };
        let mut name = String::new();
        let mut letters = list.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek() == Some(&' ') => name.extend(letters.next()),
                ' ' => {
                    names.insert(std::mem::take(&mut name));
                }
                letter => name.push(letter),
            }
        }
        names.insert(name);
    }
    names.remove("");
    names
}

fn manifest_of(source: &Path) -> Option<PathBuf> {
    source
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("Cargo.toml"))
        .find(|manifest| manifest.exists())
}

//! Whether every package that we depend on may be used: its licence, its source, its name.
//!
//! The rules are in `deny.toml`, which cargo-deny reads; building cargo-deny takes longer than all other
//! checks together, so the same three tables are applied here too, to what `cargo metadata` reports.
//! Advisories are left to cargo-deny: their database is a download.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::tally::Tally;
use super::{Context, Report};
use crate::metadata::{WORKSPACES, cargo, metadata, root};
use crate::shell;

/// Checks all workspaces; with cargo-deny too where it is installed.
pub fn check(_: &Context) -> Result<Report> {
    let rules = Rules::read()?;
    let mut tally = Tally::default();
    for workspace in WORKSPACES {
        let metadata = metadata(workspace, &[])?;
        let packages = metadata["packages"]
            .as_array()
            .context("find packages in the output of cargo metadata")?;
        let complaints: Vec<String> = packages
            .iter()
            .filter_map(|package| rules.complaint(package).transpose())
            .collect::<Result<_>>()?;
        println!(
            "{workspace}: {} packages, {} complaints",
            packages.len(),
            complaints.len()
        );
        for complaint in &complaints {
            println!("  {complaint}");
        }
        tally += Tally::check(complaints.is_empty());
        if Command::new("cargo-deny").arg("--version").output().is_ok() {
            let config = root().join("deny.toml");
            let mut command = cargo();
            command
                .args(["deny", "--locked", "--manifest-path"])
                .arg(root().join(workspace).join("Cargo.toml"));
            command
                .args(["check", "--config"])
                .arg(config)
                .args(["licenses", "bans", "sources"]);
            tally += Tally::check(shell::run(&mut command)?.status.success());
        }
    }
    Ok(tally.into())
}

struct Rules {
    licences: BTreeSet<String>,
    registries: BTreeSet<String>,
    banned: BTreeSet<String>,
}

impl Rules {
    fn read() -> Result<Self> {
        let text = fs::read_to_string(root().join("deny.toml")).context("read deny.toml")?;
        let table: toml::Table = text.parse().context("understand deny.toml")?;
        let strings = |section: &str, key: &str| -> Result<BTreeSet<String>> {
            let list = table
                .get(section)
                .and_then(|section| section.get(key))
                .and_then(toml::Value::as_array);
            let list = list.with_context(|| format!("find {section}.{key} in deny.toml"))?;
            let name = |value: &toml::Value| {
                let name = value.as_str().or_else(|| value.get("crate")?.as_str())?;
                Some(name.to_owned())
            };
            Ok(list.iter().filter_map(name).collect())
        };
        Ok(Self {
            licences: strings("licenses", "allow")?,
            registries: strings("sources", "allow-registry")?,
            banned: strings("bans", "deny")?,
        })
    }

    /// What is wrong with a package, and what to do.
    fn complaint(&self, package: &Value) -> Result<Option<String>> {
        let name = package["name"].as_str().context("read a package's name")?;
        let source = package["source"].as_str();
        if self.banned.contains(name) {
            return Ok(Some(format!(
                "{name} is banned in deny.toml, which says why and what to use instead"
            )));
        }
        if let Some(source) = source {
            let registry = source.strip_prefix("registry+");
            if !registry.is_some_and(|registry| self.registries.contains(registry)) {
                return Ok(Some(format!(
                    "{name} comes from {source}; take it from an allowed registry"
                )));
            }
        }
        let Some(licence) = package["license"].as_str() else {
            return Ok(Some(format!(
                "{name} does not say its licence; choose another package"
            )));
        };
        match allowed(licence, &self.licences) {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(format!(
                "{name} is under {licence}, which deny.toml does not allow; choose another package"
            ))),
            Err(error) => bail!("understand the licence {licence:?} of {name}: {error}"),
        }
    }
}

/// Whether an SPDX licence expression can be satisfied with the allowed licences.
///
/// Source: SPDX specification, annex D; `/` is the old form of OR.
fn allowed(expression: &str, licences: &BTreeSet<String>) -> Result<bool, &'static str> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let value = either(&mut words, licences)?;
    if words.next().is_some() {
        Err("something stands behind its end")
    } else {
        Ok(value)
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>, licences: &BTreeSet<String>) -> Result<bool, &'static str> {
    let mut value = both(words, licences)?;
    while words.next_if_eq(&"OR").is_some() {
        value |= both(words, licences)?;
    }
    Ok(value)
}

fn both(words: &mut Words<'_>, licences: &BTreeSet<String>) -> Result<bool, &'static str> {
    let mut value = single(words, licences)?;
    while words.next_if_eq(&"AND").is_some() {
        value &= single(words, licences)?;
    }
    Ok(value)
}

fn single(words: &mut Words<'_>, licences: &BTreeSet<String>) -> Result<bool, &'static str> {
    match words.next() {
        None => Err("it ends too early"),
        Some("(") => {
            let value = either(words, licences)?;
            words.next_if_eq(&")").ok_or("a parenthesis is not closed")?;
            Ok(value)
        }
        Some(licence) => {
            let mut name = licence.to_owned();
            if words.next_if_eq(&"WITH").is_some() {
                name = format!("{name} WITH {}", words.next().ok_or("it ends after WITH")?);
            }
            Ok(licences.contains(&name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(expression: &str) -> Result<bool, &'static str> {
        allowed(
            expression,
            &[
                "MIT".to_owned(),
                "Apache-2.0".to_owned(),
                "Unicode-3.0".to_owned(),
            ]
            .into(),
        )
    }

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        assert_eq!(judge("MIT"), Ok(true));
        assert_eq!(judge("GPL-3.0-only OR MIT"), Ok(true));
        assert_eq!(judge("GPL-3.0-only/MIT"), Ok(true));
        assert_eq!(judge("GPL-3.0-only AND MIT"), Ok(false));
        assert_eq!(judge("(MIT OR Apache-2.0) AND Unicode-3.0"), Ok(true));
        assert_eq!(
            judge("MIT OR Apache-2.0 AND GPL-2.0-only"),
            Ok(true),
            "AND binds stronger"
        );
    }

    #[test]
    fn an_exception_is_part_of_the_licence() {
        assert_eq!(judge("Apache-2.0 WITH LLVM-exception"), Ok(false));
        assert_eq!(judge("Apache-2.0 WITH LLVM-exception OR MIT"), Ok(true));
    }

    #[test]
    fn broken_expressions_are_errors() {
        for broken in ["", "MIT OR", "(MIT", "MIT MIT", "MIT WITH", ")"] {
            assert_ne!(judge(broken), Ok(true), "{broken}");
        }
    }
}

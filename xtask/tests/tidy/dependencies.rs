//! Dependencies run one way, so that each layer can be read, tested and replaced without those above it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::complain;
use crate::files::root;

/// Each package of the main workspace, and which others of the repository it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("underhood-os", &[]),
    ("underhood-stats", &[]),
    ("underhood-image", &[]),
    ("underhood-record", &["underhood-stats"]),
    (
        "underhood-measure",
        &["underhood-os", "underhood-record", "underhood-stats"],
    ),
    (
        "underhood-suites",
        &["underhood-measure", "underhood-os", "underhood-image"],
    ),
    ("underhood-report", &["underhood-record", "underhood-stats"]),
    (
        "underhood-worker",
        &["underhood-measure", "underhood-os", "underhood-suites"],
    ),
    ("underhood-bundle", &["underhood-os"]),
    (
        "underhood",
        &[
            "underhood-bundle",
            "underhood-image",
            "underhood-measure",
            "underhood-os",
            "underhood-record",
            "underhood-report",
            "underhood-select-rules",
            "underhood-stats",
            "underhood-suites",
        ],
    ),
    (
        "underhood-proofs",
        &[
            "underhood-bundle",
            "underhood-measure",
            "underhood-os",
            "underhood-record",
            "underhood-stats",
            "underhood-suites",
        ],
    ),
    ("xtask", &[]),
];

/// What must never be in the process that is timed, directly or through others.
const NOT_IN_THE_WORKER: &[(&str, &str)] = &[
    ("rusqlite", "a database"),
    ("libsqlite3-sys", "a database"),
    ("zstd", "only the store compresses"),
    ("clap", "a command line"),
    ("anstream", "output for people"),
    ("comfy-table", "output for people"),
    ("indicatif", "a progress bar has a thread"),
    ("underhood-report", "output for people"),
    ("tokio", "a runtime has threads"),
    ("rayon", "a pool has threads"),
];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("cargo metadata has no {key}"))
}

#[test]
fn dependencies_run_one_way() {
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--no-deps"]))
        .expect("cargo metadata is JSON");
    let mut complaints = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = text(package, "name");
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
            complaints.push(format!("{name} is in no layer"));
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = text(dependency, "name");
            let ours = dependency["path"]
                .as_str()
                .is_some_and(|path| Path::new(path).starts_with(root()));
            // A package may use itself, with more features, in its tests.
            if ours && used != name && !allowed.contains(&used) {
                complaints.push(format!("{name} uses {used}, which lies above it or beside it"));
            }
        }
    }
    complain(
        &complaints,
        "Move what is needed down, or pass it in as a value or a trait. The layers are drawn in ARCHITECTURE.md and \
         listed in LAYERS in xtask/tests/tidy/dependencies.rs.",
    );
}

#[test]
fn the_worker_carries_nothing_but_the_work() {
    let tree = cargo(&[
        "tree",
        "--package=underhood-worker",
        "--edges=normal",
        "--prefix=none",
        "--target=all",
    ]);
    let used: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(
        used.contains("underhood-measure"),
        "the tree of the worker was not understood:\n{tree}"
    );
    let complaints: Vec<_> = NOT_IN_THE_WORKER
        .iter()
        .filter(|(package, _)| used.contains(package))
        .map(|(package, why)| format!("the worker carries {package}: {why}"))
        .collect();
    complain(
        &complaints,
        "`cargo tree --package underhood-worker --edges normal --invert PACKAGE` shows who brings it in; put it behind a feature.",
    );
}

#[test]
fn all_packages_share_the_lints() {
    let mut complaints = Vec::new();
    for source in crate::files::sources()
        .iter()
        .filter(|source| source.path.ends_with("Cargo.toml"))
    {
        if source.text.contains("[package]") && !source.text.contains("[lints") {
            complaints.push(format!("{} sets no lints", source.path.display()));
        }
    }
    complain(&complaints, "Add:\n\n[lints]\nworkspace = true");
}

//! What text must look like, whatever it says.

use std::path::Path;

use crate::files::{root, rust, sources};
use crate::{at, complain};

/// Written so that this file does not find itself.
const LATER: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

#[test]
fn lines_end_cleanly() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| !source.text.is_empty()) {
        for (index, line) in source.text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                complaints.push(format!("{} ends with white space", at(&source.path, index)));
            }
        }
        if !source.text.ends_with('\n') {
            complaints.push(format!("{} does not end with a new line", source.path.display()));
        } else if source.text.ends_with("\n\n") {
            complaints.push(format!("{} ends with empty lines", source.path.display()));
        }
    }
    complain(
        &complaints,
        "Remove the white space; end the file with exactly one new line.",
    );
}

#[test]
fn promises_for_later_name_an_issue() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (index, line) in source.lines() {
            let promised = LATER.iter().any(|word| {
                line.split(|letter: char| !letter.is_alphanumeric())
                    .any(|found| found == *word)
            });
            let names_issue = line
                .split('#')
                .skip(1)
                .any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
            if promised && !names_issue {
                complaints.push(format!("{}: {}", at(&source.path, index), line.trim()));
            }
        }
    }
    complain(
        &complaints,
        "Do it now, or open an issue and write its number behind the word, as #12.",
    );
}

#[test]
fn nothing_is_left_from_debugging() {
    let mut complaints = Vec::new();
    let leftover = concat!("db", "g!(");
    for source in rust() {
        for (index, line) in source.lines().filter(|(_, line)| line.contains(leftover)) {
            complaints.push(format!("{}: {}", at(&source.path, index), line.trim()));
        }
    }
    complain(
        &complaints,
        "Remove it; what is worth seeing belongs into an error or a report.",
    );
}

#[test]
fn rust_files_open_by_saying_what_they_are_for() {
    let mut complaints = Vec::new();
    // For these, the `mod.rs` beside them says what they are for.
    let is_explained = |path: &Path| {
        let part = ["linux.rs", "windows.rs", "tests.rs"]
            .iter()
            .any(|name| path.ends_with(name));
        part && root().join(path).with_file_name("mod.rs").exists()
    };
    for source in rust().filter(|source| !is_explained(&source.path)) {
        let first = source
            .text
            .lines()
            .find(|line| !line.is_empty() && !line.starts_with("#!"));
        if !first.is_some_and(|line| line.starts_with("//!")) {
            complaints.push(format!("{} opens without a //! comment", source.path.display()));
        }
    }
    complain(
        &complaints,
        "Begin the file with a comment that teaches the problem it solves.",
    );
}

//! Only `crates/os` knows which system it runs on.
//!
//! A `cfg` elsewhere is a second answer to a question that `os` has answered, and the two drift apart.
//! Code that exists for one system as a whole is another matter: it is listed here with its reason.

use crate::files::rust;
use crate::{at, complain};

/// What asks for the system. Architectures are not asked for here: an instruction is no property of a system.
const QUESTIONS: &[&str] = &[
    "target_os",
    "target_family",
    "target_env",
    "target_vendor",
    "cfg(unix",
    "cfg(windows",
    "not(unix",
    "not(windows",
    "cfg!(unix",
    "cfg!(windows",
];

/// Where the question may be asked, and why. A path ends with a slash when it stands for a folder.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/os/", "this is its home"),
    (
        "crates/launcher/",
        "a program for Linux as a whole; what it asks for is the architecture",
    ),
    (
        "crates/heap-shim/",
        "libraries for Linux as a whole; what they ask for is the C library",
    ),
    (
        "crates/suites/src/",
        "a primitive of one system is a file of its own, switched on where it is listed",
    ),
    (
        "crates/record/src/store/open.rs",
        "a store's folder gets a mode; record must not depend on os",
    ),
    ("xtask/tests/tidy/platform.rs", "this table"),
];

#[test]
fn only_os_knows_the_system() {
    let mut complaints = Vec::new();
    for source in rust() {
        let path = source.path.to_string_lossy().replace('\\', "/");
        if EXCEPTIONS.iter().any(|(place, _)| path.starts_with(place)) || is_test(&path) {
            continue;
        }
        for (index, line) in source.lines() {
            let code = line.split("//").next().unwrap_or(line);
            let asks = code.contains("cfg") && QUESTIONS.iter().any(|question| code.contains(question));
            if asks {
                complaints.push(format!("{}: {}", at(&source.path, index), line.trim()));
            }
        }
    }
    complain(
        &complaints,
        "Move the part that differs into the topic of crates/os that it belongs to, with the same function in linux.rs \
         and windows.rs. Code for one system as a whole is added to EXCEPTIONS in xtask/tests/tidy/platform.rs.",
    );
}

/// Tests may set up what exists on one system only, such as file modes.
fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs")
}

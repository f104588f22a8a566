//! `unsafe` is denied in all workspaces; a file that needs it says so, and why.
//!
//! The compiler checks that there is an `expect`, clippy that each block has its SAFETY comment. Left for this
//! file: that each `expect` gives a reason, and that it stands only where raw calls belong.

use crate::files::rust;
use crate::{at, complain};

/// Where `unsafe` may be used, and why.
const PLACES: &[(&str, &str)] = &[
    ("crates/os/", "calls the system"),
    ("crates/launcher/", "has no C library: calls the kernel by itself"),
    (
        "crates/guard/",
        "runs before the loader: reads the stack, maps the loader",
    ),
    (
        "crates/heap-shim/",
        "is called from C, and calls heaps that are written in C",
    ),
    (
        "crates/suites/src/",
        "primitives measure raw calls and raw memory",
    ),
    ("xtask/tests/tidy/", "speaks about it"),
];

const FORMS: &[&str] = &[
    "unsafe {",
    "unsafe fn",
    "unsafe impl",
    "unsafe extern",
    "unsafe trait",
    "#[unsafe(",
    "#![unsafe(",
];

#[test]
fn unsafe_stands_only_where_raw_calls_belong() {
    let mut complaints = Vec::new();
    for source in rust() {
        let path = source.path.to_string_lossy().replace('\\', "/");
        if PLACES.iter().any(|(place, _)| path.starts_with(place)) {
            continue;
        }
        for (index, line) in source.lines() {
            let code = line.split("//").next().unwrap_or(line);
            if FORMS.iter().any(|form| code.contains(form)) {
                complaints.push(format!("{}: {}", at(&source.path, index), line.trim()));
            }
        }
    }
    complain(
        &complaints,
        "Put a safe function into crates/os and call that. A new place for raw calls is a row in PLACES in \
         xtask/tests/tidy/unsafe_code.rs, with its reason.",
    );
}

#[test]
fn each_permission_gives_its_reason() {
    let mut complaints = Vec::new();
    let lint = concat!("unsafe", "_code");
    for source in rust() {
        for (position, _) in source.text.match_indices(lint) {
            let before = &source.text[..position];
            let Some(start) = before.rfind("#[").max(before.rfind("#![")) else {
                continue;
            };
            let attribute = source.text[start..].split(']').next().unwrap_or_default();
            let permits = attribute.contains("expect(") || attribute.contains("allow(");
            if permits && attribute.contains(lint) && !attribute.contains("reason") {
                complaints.push(at(&source.path, before.lines().count().saturating_sub(1)));
            }
        }
    }
    complain(
        &complaints,
        "Write #![expect(…, reason = \"…\")] with what the file needs it for.",
    );
}

//! One concept a file: what grows past this has usually become two.

use crate::complain;
use crate::files::rust;

const LIMIT: usize = 600;

/// Files that may be longer, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

#[test]
fn files_hold_one_concept() {
    let mut complaints = Vec::new();
    for source in rust() {
        let length = source.lines().count();
        let excepted = EXCEPTIONS.iter().any(|(path, _)| source.path.ends_with(path));
        match (length > LIMIT, excepted) {
            (true, false) => complaints.push(format!("{} has {length} lines", source.path.display())),
            (false, true) => complaints.push(format!(
                "{} is short; remove its exception",
                source.path.display()
            )),
            _ => {}
        }
    }
    complain(
        &complaints,
        "Files over 600 lines: find the second concept and give it a file of its own. If there is none, add \
         the file with the reason to EXCEPTIONS in xtask/tests/tidy/length.rs.",
    );
}

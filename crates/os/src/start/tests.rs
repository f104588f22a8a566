use std::process::{Command, Stdio};

use super::*;

#[test]
fn a_program_that_is_not_there_returns_the_error() {
    let error = become_program(Path::new("/nonexistent/program"), OsStr::new("program"), &[], &[]);
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn processes_are_found_by_their_environment() {
    if !cfg!(target_os = "linux") {
        assert_eq!(started_with("UNDERHOOD_TEST_MARK", b""), Vec::<u32>::new());
        return;
    }
    // Waits for the end of its input, so that dropping it ends it.
    let mut child = Command::new("cat")
        .env("UNDERHOOD_TEST_MARK", "before/mark/behind")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (found, other) = (
        started_with("UNDERHOOD_TEST_MARK", b"/mark/"),
        started_with("UNDERHOOD_TEST_MARK", b"elsewhere"),
    );
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(found, [child.id()]);
    assert_eq!(other, Vec::<u32>::new());
}

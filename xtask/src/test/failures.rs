//! What failing tests said, to be repeated at the end, where it is looked for and where a cut log still has it.

/// The longest account of one failure, in lines; its beginning has the assertion.
const LINES: usize = 30;

/// The accounts in the output of Rust's test harness, each with the test's name first.
///
/// They stand between a line `failures:` and the next one, which begins the list of their names.
pub fn of_test_output(output: &str) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in output.lines() {
        if line == "failures:" {
            inside = !inside;
        } else if line.starts_with("test result: ") {
            inside = false;
        } else if inside {
            let title = line
                .strip_prefix("---- ")
                .and_then(|rest| rest.strip_suffix(" stdout ----"));
            match (title, found.last_mut()) {
                (Some(name), _) => found.push(vec![name]),
                (None, Some(account)) if account.len() <= LINES => account.push(line),
                (None, _) => {}
            }
        }
    }
    found
        .iter()
        .map(|account| account.join("\n").trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_from_what_passing_tests_print() {
        let output = "test a ... ok\ntest b ... FAILED\n\nsuccesses:\n\n---- a stdout ----\nfine\n\nsuccesses:\n    a\n\n\
            failures:\n\n---- b stdout ----\nleft: 1\n\n---- c stdout ----\nright: 2\n\n\nfailures:\n    b\n    c\n\n\
            test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
            successes:\n\n---- d stdout ----\nfine\n";
        assert_eq!(of_test_output(output), ["b\nleft: 1", "c\nright: 2"]);
    }

    #[test]
    fn a_flood_is_cut() {
        let output = format!("failures:\n\n---- b stdout ----\n{}", "x\n".repeat(1_000));
        assert_eq!(of_test_output(&output)[0].lines().count(), LINES + 1);
    }
}

//! Counting what was tested, across everything that tests.

use std::fmt;
use std::ops::AddAssign;

/// Numbers of tests. A check that is no test of its own, such as the formatting, counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that held.
    pub passed: usize,
    /// Tests that did not.
    pub failed: usize,
    /// Tests, or groups of them, that could not run here.
    pub skipped: usize,
}

impl Tally {
    /// One check with this result.
    pub fn check(held: bool) -> Self {
        Self {
            passed: usize::from(held),
            failed: usize::from(!held),
            skipped: 0,
        }
    }

    /// The sum over the result lines of Rust's test harness in `output`, given whether the program that
    /// ran the tests ended well.
    ///
    /// Tests marked `#[ignore]` are no skips: they are long proofs or measurements that `cargo xtask prove` runs.
    pub fn of_test_output(output: &str, ended_well: bool) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            // test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
            let Some((_, counts)) = line
                .strip_prefix("test result: ")
                .and_then(|rest| rest.split_once(". "))
            else {
                continue;
            };
            for count in counts.split("; ") {
                match count
                    .trim()
                    .split_once(' ')
                    .map(|(number, what)| (number.parse::<usize>(), what))
                {
                    Some((Ok(number), "passed")) => tally.passed += number,
                    Some((Ok(number), "failed")) => tally.failed += number,
                    _ => {}
                }
            }
        }
        // It did not compile, or crashed before it could count.
        if !ended_well && tally.failed == 0 {
            tally.failed = 1;
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "running 2 tests\n\
        test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
        test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
        test result: nonsense\n";

    #[test]
    fn result_lines_are_summed() {
        assert_eq!(
            Tally::of_test_output(OUTPUT, false),
            Tally {
                passed: 15,
                failed: 2,
                skipped: 0
            }
        );
    }

    #[test]
    fn a_crash_without_a_result_line_is_a_failure() {
        assert_eq!(
            Tally::of_test_output("error: could not compile", false),
            Tally::check(false)
        );
        assert_eq!(Tally::of_test_output("", true), Tally::default());
    }

    #[test]
    fn skips_are_named_only_when_there_are_some() {
        assert_eq!(
            Tally {
                passed: 7,
                failed: 0,
                skipped: 0
            }
            .to_string(),
            "7 passed, 0 failed"
        );
        assert_eq!(
            Tally {
                passed: 7,
                failed: 1,
                skipped: 2
            }
            .to_string(),
            "7 passed, 1 failed, 2 skipped"
        );
    }
}

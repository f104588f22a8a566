//! Calls that are right in one folder and wrong in another, which clippy.toml cannot express.

use crate::files::rust;
use crate::{at, complain};

/// A call, the folders where it must not stand, and what to use there.
struct Rule {
    call: &'static str,
    not_in: &'static [&'static str],
    instead: &'static str,
    /// Files that may, and why.
    except: &'static [(&'static str, &'static str)],
}

const RULES: &[Rule] = &[
    Rule {
        call: "Command::new(",
        not_in: &[
            "crates/measure/src/",
            "crates/suites/src/",
            "crates/record/src/",
            "crates/report/src/",
        ],
        instead: "os::process ends what it started, whatever happens to us, and accounts for it",
        except: &[(
            "crates/suites/src/remedy/tunable.rs",
            "asks the dynamic loader, which answers and ends",
        )],
    },
    Rule {
        call: "Instant::now(",
        not_in: &[
            "crates/suites/src/",
            "crates/measure/src/timed",
            "crates/stats/src/",
            "crates/record/src/",
            "crates/report/src/",
        ],
        instead: "os::clock is the clock whose cost is known and subtracted; mathematics and records have no clock",
        except: &[],
    },
    Rule {
        call: "thread::sleep(",
        not_in: &["crates/measure/src/", "crates/underhood/src/"],
        instead: "os::signal::sleep wakes up when the user interrupts",
        except: &[],
    },
];

#[test]
fn calls_stand_where_they_are_right() {
    let mut complaints = Vec::new();
    for source in rust() {
        let path = source.path.to_string_lossy().replace('\\', "/");
        if path.ends_with("tests.rs") {
            continue;
        }
        // Tests at the end of a file may call what they like.
        let lines = source
            .lines()
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]");
        for (index, line) in lines {
            let code = line.split("//").next().unwrap_or(line);
            for rule in RULES {
                let forbidden = rule.not_in.iter().any(|place| path.starts_with(place));
                let excepted = rule.except.iter().any(|(file, _)| path == *file);
                if code.contains(rule.call) && forbidden && !excepted {
                    complaints.push(format!(
                        "{}: {} — {}",
                        at(&source.path, index),
                        line.trim(),
                        rule.instead
                    ));
                }
            }
        }
    }
    complain(
        &complaints,
        "Each line names what to use. The rules are in xtask/tests/tidy/calls.rs.",
    );
}

//! `cargo xtask test`: everything that must hold before a change is taken.
//!
//! Steps run one after the other and all of them run, so that one look at the end shows all that is
//! wrong. The last line is the sum, alone: `N passed, N failed` (and `, N skipped` if any).

mod dependencies;
mod failures;
mod linux;
mod packages;
mod tally;
mod windows;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use tally::Tally;

/// How a line begins that a test prints, on standard output or standard error, when it must leave something out;
/// the reason follows. Rust's test harness has no such notion, so without this a skip would look like a pass.
const SKIPPED: &str = "SKIPPED";

/// Makes the harness show what passing tests print.
const SHOW_OUTPUT: &str = "--show-output";

/// What steps share.
struct Context {
    /// Debian packages that are missing.
    missing: Vec<&'static str>,
    /// Removed at the end.
    scratch: tempfile::TempDir,
}

/// What came of a step.
struct Report {
    tally: Tally,
    /// Why something was skipped.
    reasons: Vec<String>,
    /// What failing tests said.
    failures: Vec<String>,
}

impl From<Tally> for Report {
    fn from(tally: Tally) -> Self {
        Self {
            tally,
            reasons: Vec::new(),
            failures: Vec::new(),
        }
    }
}

impl Report {
    /// What the output of test programs says.
    fn of_tests(output: &str, ended_well: bool) -> Self {
        let skipped = |line: &str| {
            line.trim_start()
                .strip_prefix(SKIPPED)
                .map(|reason| reason.trim_start_matches(':').trim().to_owned())
        };
        let reasons: Vec<_> = output.lines().filter_map(skipped).collect();
        let mut tally = Tally::of_test_output(output, ended_well);
        tally.skipped = reasons.len();
        Self {
            tally,
            reasons,
            failures: failures::of_test_output(output),
        }
    }

    fn add(&mut self, other: Self) {
        self.tally += other.tally;
        self.reasons.extend(other.reasons);
        self.failures.extend(other.failures);
    }

    fn skip(reason: String) -> Self {
        Self {
            tally: Tally {
                skipped: 1,
                ..Tally::default()
            },
            reasons: vec![reason],
            failures: Vec::new(),
        }
    }
}

/// One row of the table that ends the output.
struct Step {
    name: &'static str,
    run: fn(&Context) -> Result<Report>,
}

const STEPS: &[Step] = &[
    Step {
        name: "packages",
        run: linux::packages,
    },
    Step {
        name: "format",
        run: linux::format,
    },
    Step {
        name: "dependencies",
        run: dependencies::check,
    },
    Step {
        name: "clippy",
        run: linux::clippy,
    },
    Step {
        name: "test",
        run: linux::test,
    },
    Step {
        name: "test-launcher",
        run: linux::test_launcher,
    },
    Step {
        name: "test-heap-shim",
        run: linux::test_heap_shim,
    },
    Step {
        name: "docs",
        run: linux::docs,
    },
    Step {
        name: "windows-test",
        run: windows::test,
    },
    Step {
        name: "windows-commands",
        run: windows::commands,
    },
];

/// Runs the steps that are named, or all.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let (options, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| argument.starts_with('-'));
    let require_all = options.iter().any(|option| *option == "--require-all");
    if let Some(option) = options.iter().find(|option| **option != "--require-all") {
        bail!("understand {option}: the only option is --require-all");
    }
    if let Some(name) = names
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("find the step {name}: there are {}", known.join(", "));
    }

    let scratch = tempfile::tempdir().context("create a temporary folder")?;
    let missing = packages::provide(&[&packages::LINUX, &packages::WINDOWS])?;
    let context = Context { missing, scratch };

    let mut results = Vec::new();
    for step in STEPS
        .iter()
        .filter(|step| names.is_empty() || names.iter().any(|name| *name == step.name))
    {
        println!("\n== {} ==", step.name);
        let started = Instant::now();
        let report = (step.run)(&context).unwrap_or_else(|error| {
            println!("failed to {}: {error:#}", step.name);
            Tally::check(false).into()
        });
        results.push((step.name, started.elapsed(), report));
    }
    windows::end_wine(&context);
    Ok(summarise(&results, require_all))
}

fn summarise(results: &[(&str, Duration, Report)], require_all: bool) -> ExitCode {
    let mut sum = Tally::default();
    for (name, _, report) in results {
        for failure in &report.failures {
            println!("\nFAILED in {name}: {failure}");
        }
    }
    println!("\n{:<18} {:>8}  result", "step", "time");
    for (name, time, report) in results {
        println!("{name:<18} {:>6.1} s  {}", time.as_secs_f64(), report.tally);
        sum += report.tally;
    }
    let total: Duration = results.iter().map(|(_, time, _)| *time).sum();
    println!("{:<18} {:>6.1} s", "all", total.as_secs_f64());
    for reason in results.iter().flat_map(|(_, _, report)| &report.reasons) {
        println!("SKIPPED: {reason}");
    }
    if require_all && sum.skipped > 0 {
        println!("with --require-all a skip is a failure");
        sum = Tally {
            failed: sum.failed + sum.skipped,
            skipped: 0,
            ..sum
        };
    }
    println!("{sum}");
    if sum.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

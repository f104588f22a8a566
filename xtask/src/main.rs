//! Everything that is done to the project, as opposed to with it: `cargo xtask TASK`.
//!
//! One command serves people and the continuous integration alike, so nothing passes there that cannot be
//! repeated here. A task is one row in [`TASKS`] and one function.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program's output is its purpose"
)]

mod metadata;
mod package;
mod prove;
mod shell;
mod test;

use std::process::ExitCode;

/// A task: its name, its one line of help, and what it does with the arguments behind its name.
struct Task {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> anyhow::Result<ExitCode>,
}

const TASKS: &[Task] = &[
    Task {
        name: "test",
        help: "all checks and tests, on Linux and under Wine; --require-all: a skip is a failure; names: these steps only",
        run: test::run,
    },
    Task {
        name: "prove",
        help: "the long proofs behind the claims in docs/; without a name: lists them",
        run: prove::run,
    },
    Task {
        name: "package",
        help: "the binary, its man pages and its shell completions, in dist/",
        run: package::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.split_first().and_then(|(name, rest)| {
        let task = TASKS.iter().find(|task| task.name == name)?;
        Some((task, rest))
    });
    let Some((task, rest)) = chosen else {
        println!("usage: cargo xtask TASK [ARGUMENT...]\n");
        for task in TASKS {
            println!("  {:<8} {}", task.name, task.help);
        }
        return ExitCode::from(2);
    };
    (task.run)(rest).unwrap_or_else(|error| {
        eprintln!("failed to {}: {error:#}", task.name);
        ExitCode::FAILURE
    })
}

//! The long proofs on real machines: that the tool errs as seldom as it says, sees what it says it sees, and costs what it
//! says it costs. `cargo xtask prove NAME` calls this; each proof prints a Markdown table for docs/ and fails when its
//! claim does not hold.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program's output is its purpose"
)]

mod alike;
mod bind;
mod common;
mod entry;
mod heap;
mod launch;
mod load;
mod power;
mod tune;

use std::process::ExitCode;

use anyhow::Result;

/// A proof: its name, what it shows, and its code; the number scales the work, 1 for the full form.
struct Proof {
    name: &'static str,
    help: &'static str,
    run: fn(f64) -> Result<bool>,
}

const PROOFS: &[Proof] = &[
    Proof {
        name: "alike",
        help: "A/A: a command against itself on a busy machine; hyperfine beside it",
        run: alike::run,
    },
    Proof {
        name: "power",
        help: "true slow-downs of 2 % and 10 % are called slower, quiet and busy",
        run: power::run,
    },
    Proof {
        name: "launch",
        help: "what starting costs beside a bare vfork loop; whose memory is counted",
        run: launch::run,
    },
    Proof {
        name: "entry",
        help: "the time to the entry point beside an independent ptrace loop",
        run: entry::run,
    },
    Proof {
        name: "heap",
        help: "heaptest: the single lock's disease; system beside the same loop in C",
        run: heap::run,
    },
    Proof {
        name: "load",
        help: "based, bound, by ordinal, hash tables: the shape of the article's result",
        run: load::run,
    },
    Proof {
        name: "bind",
        help: "bound copies: how much faster they start, and that they are never wrong",
        run: bind::run,
    },
    Proof {
        name: "tune",
        help: "tune on programs that gain, that do not, and that must be refused",
        run: tune::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let scale = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let Some(proof) = PROOFS.iter().find(|proof| proof.name == name) else {
        eprintln!("usage: underhood-proofs NAME [SCALE]\n");
        for proof in PROOFS {
            eprintln!("  {:<8} {}", proof.name, proof.help);
        }
        return ExitCode::from(2);
    };
    match (proof.run)(scale) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("failed to {error:#}");
            ExitCode::FAILURE
        }
    }
}

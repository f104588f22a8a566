//! `cargo xtask prove NAME`: proofs that take too long for every change.
//!
//! Each claim in docs/ that rests on many runs or simulations is repeated by one of these, on a quiet
//! machine, before a release and whenever the claim's code changes. A proof prints what it finds and ends well only when the
//! claim holds. Simulations live with the mathematics that they try; what needs a machine lives in proofs/.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::metadata::cargo;
use crate::shell;

/// A proof: its name, what it shows, and the program that shows it (arguments of `cargo run`).
struct Proof {
    name: &'static str,
    help: &'static str,
    program: &'static [&'static str],
}

const PROOFS: &[Proof] = &[
    Proof {
        name: "statistics",
        help: "error rates and power of every rule of decision, 10,000 simulations each",
        program: &["--package=underhood-stats", "--example=prove", "--"],
    },
    Proof {
        name: "alike",
        help: "a command against itself on a busy machine, and hyperfine beside it",
        program: &["--package=underhood-proofs", "--", "alike"],
    },
    Proof {
        name: "power",
        help: "true slow-downs of 2 % and 10 % are called slower, quiet and busy",
        program: &["--package=underhood-proofs", "--", "power"],
    },
    Proof {
        name: "launch",
        help: "what starting a command costs beside a bare vfork loop, and whose memory is counted",
        program: &["--package=underhood-proofs", "--", "launch"],
    },
    Proof {
        name: "entry",
        help: "the time to the entry point beside an independent ptrace loop in C",
        program: &["--package=underhood-proofs", "--", "entry"],
    },
    Proof {
        name: "heap",
        help: "what a single lock does to a heap; the system's heap beside the same loop in C",
        program: &["--package=underhood-proofs", "--", "heap"],
    },
    Proof {
        name: "load",
        help: "based, bound, by ordinal, hash tables: the shape of the article's result on load time",
        program: &["--package=underhood-proofs", "--", "load"],
    },
    Proof {
        name: "bind",
        help: "bound copies: how much faster they start, and that they are never wrong",
        program: &["--package=underhood-proofs", "--", "bind"],
    },
    Proof {
        name: "tune",
        help: "tune on programs that gain, that do not, and that must be refused",
        program: &["--package=underhood-proofs", "--", "tune"],
    },
];

/// Runs one proof with the arguments behind its name, or all; without a name, lists them.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((name, rest)) = arguments.split_first() else {
        println!("usage: cargo xtask prove NAME|all [ARGUMENT...]\n");
        for proof in PROOFS {
            println!("  {:<12} {}", proof.name, proof.help);
        }
        return Ok(ExitCode::from(2));
    };
    let chosen: Vec<_> = PROOFS
        .iter()
        .filter(|proof| name == "all" || proof.name == name)
        .collect();
    if chosen.is_empty() {
        bail!("find the proof {name}; `cargo xtask prove` lists what there is");
    }
    let mut all_hold = true;
    for proof in chosen {
        println!("== {} ==", proof.name);
        let started = Instant::now();
        let mut command = cargo();
        command
            .args(["run", "--quiet", "--release", "--locked"])
            .args(proof.program)
            .args(rest);
        let holds = shell::run(&mut command)?.status.success();
        let word = if holds { "holds" } else { "DOES NOT HOLD" };
        println!(
            "{}: {word} ({:.0} s)",
            proof.name,
            started.elapsed().as_secs_f64()
        );
        all_hold &= holds;
    }
    Ok(if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

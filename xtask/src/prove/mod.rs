//! `cargo xtask prove NAME`: proofs that take too long for every change.
//!
//! Each claim in docs/ that rests on many runs or simulations is repeated by one of these, on a quiet
//! machine, before a release and whenever the claim's code changes. A proof is one file here and
//! one row in [`PROOFS`]; it prints what it finds and ends well only when the claim holds.

mod statistics;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

/// A proof: its name, what it shows and how long it takes, and how to run it with the arguments behind its name.
struct Proof {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<bool>,
}

const PROOFS: &[Proof] = &[Proof {
    name: "statistics",
    help: "error rates of every rule of decision, 10,000 simulations each",
    run: statistics::run,
}];

/// Runs one proof, or `all`; without a name, lists them.
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
        let holds = (proof.run)(rest)?;
        println!(
            "{}: {} ({:.0} s)",
            proof.name,
            if holds { "holds" } else { "DOES NOT HOLD" },
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

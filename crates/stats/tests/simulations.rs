//! The short form of the proof by simulation; `examples/prove.rs` is the long one.

use underhood_stats::simulate::{self, power};

/// No rule errs more often than it promises.
#[test]
fn every_rule_keeps_its_promise() {
    let sessions = if cfg!(debug_assertions) { 500 } else { 1_000 };
    let rows = simulate::all(sessions, 20_261_130);
    assert!(rows.len() > 90, "only {} rows", rows.len());
    let broken: Vec<_> = rows.iter().filter(|row| !row.holds()).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The rules also speak: a slow-down of 2 % in pairs of 2.5 % noise is found within sixty blocks.
#[test]
fn what_is_there_is_found() {
    let table = power::table(20, 3);
    for row in table
        .iter()
        .filter(|row| row.data == "normal" && row.effect == 0.02 && row.noise <= 0.025)
    {
        assert!(row.by_60 >= 0.7, "{row:?}");
    }
    for row in power::equivalence(20, 4).iter().filter(|row| row.noise <= 0.01) {
        assert!(row.by_200 >= 0.8, "{row:?}");
    }
}

//! The other half of the truth: how long does a rule take to see what is there?
//!
//! A rule that never speaks never errs. These tables say after how many blocks each sequence finds an effect
//! of a given size in noise of a given size, looked at after every block.

use fastrand::Rng;

use super::noise::{Noise, Session};
use super::rules::{MARGIN, Signs, Sizes, Watched, watch};
use crate::Verdict;

/// How soon one sequence finds one effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// The sequence.
    pub rule: &'static str,
    /// The kind of noise.
    pub data: &'static str,
    /// The true relative effect, 0.02 for 2 %.
    pub effect: f64,
    /// The standard deviation of the log ratio of a pair (the scale factor for heavy tails).
    pub noise: f64,
    /// The number of blocks by which half of the sessions had found it; `None` if fewer than half ever did.
    pub median_blocks: Option<usize>,
    /// The share of sessions that had found it after 30 blocks.
    pub by_30: f64,
    /// After 60 blocks.
    pub by_60: f64,
    /// After 80 blocks.
    pub by_80: f64,
    /// After 200 blocks.
    pub by_200: f64,
}

/// Both sequences on slow-downs of 1, 2, 5 and 10 % in normal and heavy-tailed noise.
#[must_use]
pub fn table(sessions: usize, seed: u64) -> Vec<Power> {
    let cases = [
        (0.01, 0.02),
        (0.02, 0.01),
        (0.02, 0.02),
        (0.02, 0.025),
        (0.02, 0.03),
        (0.02, 0.035),
        (0.02, 0.04),
        (0.05, 0.02),
        (0.05, 0.05),
        (0.1, 0.1),
        (0.1, 0.15),
    ];
    let mut table = Vec::new();
    for noise in [Noise::Normal, Noise::HeavyTails, Noise::Outliers] {
        for (effect, scale) in cases {
            table.push(power::<Signs>("signs", noise, effect, scale, sessions, seed));
            table.push(power::<Sizes>("sizes", noise, effect, scale, sessions, seed));
        }
    }
    table
}

/// Both sequences on identical arms: how soon "equivalent" within 1 % falls.
#[must_use]
pub fn equivalence(sessions: usize, seed: u64) -> Vec<Power> {
    let mut table = Vec::new();
    for scale in [0.005, 0.01, 0.02, 0.03] {
        table.push(power::<Signs>("signs", Noise::Normal, 0.0, scale, sessions, seed));
        table.push(power::<Sizes>("sizes", Noise::Normal, 0.0, scale, sessions, seed));
    }
    table
}

/// One row: the verdict that is right for `effect` (equivalent for 0), and when it falls.
fn power<S: Watched>(
    rule: &'static str,
    noise: Noise,
    effect: f64,
    scale: f64,
    sessions: usize,
    seed: u64,
) -> Power {
    const BLOCKS: usize = 200;
    let right = if effect > 0.0 {
        Verdict::Slower
    } else {
        Verdict::Equivalent
    };
    let mut random = Rng::with_seed(seed);
    let mut found: Vec<usize> = Vec::new();
    for _ in 0..sessions {
        let mut fork = random.fork();
        let mut session = Session::new(noise, scale, effect.ln_1p(), &mut fork);
        let (word, block) = watch::<S>(&mut session, BLOCKS, MARGIN);
        if word == right {
            found.push(block);
        }
    }
    found.sort_unstable();
    let by = |blocks: usize| found.partition_point(|b| *b <= blocks) as f64 / sessions.max(1) as f64;
    Power {
        rule,
        data: noise.name(),
        effect,
        noise: scale,
        median_blocks: found.get(sessions / 2).copied(),
        by_30: by(30),
        by_60: by(60),
        by_80: by(80),
        by_200: by(BLOCKS),
    }
}

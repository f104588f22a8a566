//! Error rates of the rules that choose among many candidates.

use fastrand::Rng;

use super::noise::{Noise, Session, normal};
use super::rules::{Signs, Sizes, Watched};
use super::{Row, share};
use crate::Verdict;
use crate::e_bh::{closed_e_bh, e_bh};

const ALPHA: f64 = 0.05;
const ARMS: usize = 8;
const BLOCKS: usize = 60;
const SCALE: f64 = 0.02;

/// One block of a baseline and [`ARMS`] candidates: log ratios to the baseline, and so all dependent on its
/// noise.
///
/// Every run has noise of its own, and every tenth block a heavy hit that falls on one arm.
fn block(effects: &[f64; ARMS], random: &mut Rng) -> [f64; ARMS] {
    let single = SCALE / std::f64::consts::SQRT_2;
    let hit = if random.u32(..10) == 0 {
        random.usize(..=ARMS)
    } else {
        usize::MAX
    };
    let mut time = |arm: usize| single * normal(random) + if arm == hit { 1.0 } else { 0.0 };
    let baseline = time(ARMS);
    std::array::from_fn(|arm| effects[arm] + time(arm) - baseline)
}

/// All rules for many arms.
#[must_use]
pub fn all(sessions: usize, seed: u64) -> Vec<Row> {
    let mut half = [0.0; ARMS];
    half[..ARMS / 2].fill(-0.03);
    // Many arms cost as many times more than one; a quarter of the sessions suffices.
    let n = sessions.div_ceil(4);
    let mut rows = Vec::new();
    for (data, effects) in [
        ("8 useless arms", [0.0; ARMS]),
        ("4 of 8 arms useless, 4 help by 3 %", half),
    ] {
        let mut row = |rule, error| {
            rows.push(Row {
                rule,
                data,
                alpha: ALPHA,
                error,
                n,
                promised: true,
            })
        };
        row(
            "e-BH on signs: false discoveries",
            discoveries::<Signs>(&effects, e_bh, n, seed),
        );
        row(
            "closed e-BH on signs: false discoveries",
            discoveries::<Signs>(&effects, closed_e_bh, n, seed),
        );
        row(
            "e-BH on sizes: false discoveries",
            discoveries::<Sizes>(&effects, e_bh, n, seed),
        );
        row(
            "closed e-BH on sizes: false discoveries",
            discoveries::<Sizes>(&effects, closed_e_bh, n, seed),
        );
    }
    let mut row = |rule, data, error| {
        rows.push(Row {
            rule,
            data,
            alpha: ALPHA,
            error,
            n,
            promised: true,
        })
    };
    for (data, lead) in [
        ("8 arms, one 1 % better", 0.01),
        ("8 arms, one 0.2 % better", 0.002),
    ] {
        row(
            "racing on signs: the best arm dropped",
            data,
            racing_error::<Signs>(lead, n, seed),
        );
        row(
            "racing on sizes: the best arm dropped",
            data,
            racing_error::<Sizes>(lead, n, seed),
        );
    }
    row(
        "useless winner confirmed, on signs",
        "fresh blocks",
        confirmation_error::<Signs>(n, seed),
    );
    row(
        "useless winner confirmed, on sizes",
        "fresh blocks",
        confirmation_error::<Sizes>(n, seed),
    );
    rows
}

/// The mean share of useless arms among those selected, when each arm stops as soon as it alone looks
/// convincing.
fn discoveries<S: Watched>(
    effects: &[f64; ARMS],
    select: fn(&[f64], f64) -> Vec<bool>,
    sessions: usize,
    seed: u64,
) -> f64 {
    let mut random = Rng::with_seed(seed);
    let mut total = 0.0;
    for _ in 0..sessions {
        let mut arms: [S; ARMS] = std::array::from_fn(|_| S::start(0.0));
        let mut evidence = [0.0_f64; ARMS];
        for _ in 0..BLOCKS {
            for (arm, d) in block(effects, &mut random).into_iter().enumerate() {
                // Stopping at the best moment is what an impatient user does, and what e-values must
                // withstand. This much is needed to be selected alone.
                if evidence[arm] < ARMS as f64 / ALPHA {
                    arms[arm].add(d);
                    evidence[arm] = arms[arm].e_less();
                }
            }
        }
        let selected = select(&evidence, ALPHA);
        let chosen = selected.iter().filter(|s| **s).count();
        let wrong = selected
            .iter()
            .zip(effects)
            .filter(|(s, effect)| **s && **effect >= 0.0)
            .count();
        total += wrong as f64 / chosen.max(1) as f64;
    }
    total / sessions.max(1) as f64
}

/// One arm is better than the seven others by `lead`: how often does racing drop it?
///
/// After each block every arm that is clearly worse than the leader, the arm with the lowest median so far,
/// leaves. Each pair errs with probability at most α, but the best arm meets every leader there is, so theory
/// promises only seven times that. That it stays below α all the same is what this simulation is for.
fn racing_error<S: Watched>(lead: f64, sessions: usize, seed: u64) -> f64 {
    const BEST: usize = ARMS - 1;
    let mut effects = [-0.02; ARMS];
    effects[BEST] -= lead;
    share(sessions, seed, |random| {
        let mut arms: [Vec<f64>; ARMS] = std::array::from_fn(|_| Vec::new());
        (0..BLOCKS).any(|_| {
            for (arm, d) in block(&effects, random).into_iter().enumerate() {
                arms[arm].push(d);
            }
            let centre = |arm: usize| crate::summary::median(&arms[arm]).unwrap_or(f64::INFINITY);
            let leader = (0..ARMS)
                .min_by(|&a, &b| centre(a).total_cmp(&centre(b)))
                .unwrap_or(BEST);
            if leader == BEST {
                return false;
            }
            // Whether worse arms have left changes nothing for the best one unless they led, and then they
            // had not left: so it is enough to watch this one pair.
            let mut sequence = S::start(0.0);
            arms[BEST]
                .iter()
                .zip(&arms[leader])
                .for_each(|(best, led)| sequence.add(best - led));
            sequence.verdict() == Verdict::Slower
        })
    })
}

/// Nothing helps: how often does the leader of the race pass its confirmation on fresh blocks?
fn confirmation_error<S: Watched>(sessions: usize, seed: u64) -> f64 {
    share(sessions, seed, |random| {
        // With useless arms the leader of the race is an arm drawn at random, so the race can be left out.
        let mut session = Session::new(Noise::Normal, SCALE, 0.0, random);
        let mut sequence = S::start(0.0);
        (0..BLOCKS).any(|_| {
            sequence.add(session.block());
            sequence.verdict() == Verdict::Faster
        })
    })
}

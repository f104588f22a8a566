//! Error rates of the rules that choose among many candidates.

use fastrand::Rng;

use super::noise::{Noise, Session, normal};
use super::rules::Watched;
use super::{Row, share};
use crate::e_bh::{closed_e_bh, e_bh};
use crate::{Sequence, SymmetricSequence, Verdict, verdict};

const ALPHA: f64 = 0.05;
const ARMS: usize = 8;
const BLOCKS: usize = 60;
const SCALE: f64 = 0.02;

/// One block of a baseline and [`ARMS`] candidates: log ratios to the baseline, and so all dependent on its noise.
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
    let useless = [0.0; ARMS];
    let mut half = [0.0; ARMS];
    half[..ARMS / 2].fill(-0.03);
    let mut rows = Vec::new();
    let mut row = |rule, data, error| {
        rows.push(Row {
            rule,
            data,
            alpha: ALPHA,
            error,
            n: sessions,
            promised: true,
        });
    };
    row(
        "e-BH on signs: false discoveries",
        "8 useless arms",
        discoveries::<Sequence>(&useless, e_bh, sessions, seed),
    );
    row(
        "e-BH on signs: false discoveries",
        "4 of 8 useless",
        discoveries::<Sequence>(&half, e_bh, sessions, seed),
    );
    let closed = closed_e_bh;
    row(
        "closed e-BH on sizes: false discoveries",
        "8 useless arms",
        discoveries::<SymmetricSequence>(&useless, closed, sessions, seed),
    );
    row(
        "closed e-BH on sizes: false discoveries",
        "4 of 8 useless",
        discoveries::<SymmetricSequence>(&half, closed, sessions, seed),
    );
    row(
        "racing on signs: the best arm dropped",
        "one arm 3 % better",
        racing_error::<Sequence>(sessions, seed),
    );
    row(
        "racing on sizes: the best arm dropped",
        "one arm 3 % better",
        racing_error::<SymmetricSequence>(sessions, seed),
    );
    row(
        "winner confirmed, on signs",
        "8 useless arms",
        confirmation_error::<Sequence>(sessions, seed),
    );
    row(
        "winner confirmed, on sizes",
        "8 useless arms",
        confirmation_error::<SymmetricSequence>(sessions, seed),
    );
    rows
}

/// The mean share of useless arms among those selected, when each arm stops as soon as it alone looks convincing.
fn discoveries<S: Watched>(
    effects: &[f64; ARMS],
    select: fn(&[f64], f64) -> Vec<bool>,
    sessions: usize,
    seed: u64,
) -> f64 {
    let mut random = Rng::with_seed(seed);
    let mut total = 0.0;
    for _ in 0..sessions {
        let mut arms: [S; ARMS] = std::array::from_fn(|_| S::start(ALPHA));
        let mut evidence = [0.0_f64; ARMS];
        for _ in 0..BLOCKS {
            for (arm, d) in block(effects, &mut random).into_iter().enumerate() {
                // Stopping at the best moment is what an impatient user does, and what e-values must withstand.
                if evidence[arm] < 1.0 / ALPHA {
                    arms[arm].add(d);
                    evidence[arm] = arms[arm].fortunes(0.0).0;
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

/// Races `effects` for [`BLOCKS`] blocks: after each, whoever is clearly worse than the leader leaves. Who is still in, and who leads.
fn race<S: Watched>(effects: &[f64; ARMS], random: &mut Rng) -> ([bool; ARMS], usize) {
    let mut history: Vec<[f64; ARMS]> = Vec::new();
    let mut running = [true; ARMS];
    let mut leader = 0;
    for _ in 0..BLOCKS {
        history.push(block(effects, random));
        let centre = |arm: usize| {
            let column: Vec<f64> = history.iter().map(|row| row[arm]).collect();
            crate::summary::median(&column).unwrap_or(f64::INFINITY)
        };
        leader = (0..ARMS)
            .filter(|&arm| running[arm])
            .min_by(|&a, &b| centre(a).total_cmp(&centre(b)))
            .unwrap_or(leader);
        for arm in (0..ARMS).filter(|&arm| arm != leader) {
            if running[arm] {
                let mut sequence = S::start(ALPHA);
                history
                    .iter()
                    .for_each(|row| sequence.add(row[arm] - row[leader]));
                running[arm] = sequence.fortunes(0.0).1 < 2.0 / ALPHA;
            }
        }
    }
    (running, leader)
}

/// One arm is better than the seven others by 3 %: how often does racing drop it?
fn racing_error<S: Watched>(sessions: usize, seed: u64) -> f64 {
    let mut effects = [-0.02; ARMS];
    effects[ARMS - 1] = -0.05;
    // A race reads its whole history after every block: a tenth of the sessions must do.
    share(sessions.div_ceil(10), seed, |random| {
        !race::<S>(&effects, random).0[ARMS - 1]
    })
}

/// Nothing helps: how often does the leader of the race pass its confirmation on fresh blocks?
fn confirmation_error<S: Watched>(sessions: usize, seed: u64) -> f64 {
    share(sessions, seed, |random| {
        // With useless arms the leader of the race is an arm drawn at random, so the race can be left out.
        let mut session = Session::new(Noise::Normal, SCALE, 0.0, random);
        let mut sequence = S::start(ALPHA);
        (0..BLOCKS).any(|_| {
            sequence.add(session.block());
            sequence.fortunes(0.0).0 >= 1.0 / ALPHA && verdict(&sequence.range(), 0.0) == Verdict::Faster
        })
    })
}

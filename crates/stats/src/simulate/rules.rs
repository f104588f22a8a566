//! Error rates of the rules that compare one candidate with its baseline.

use super::noise::{Noise, Session};
use super::{Row, share};
use crate::bets::Bets;
use crate::{Sequence, SymmetricSequence, Verdict, sign_flip, signed_rank, verdict};

const ALPHA: f64 = 0.05;

/// The margin for "equivalent" in all simulations.
pub const MARGIN: f64 = 0.01;

/// The noise of a pair where the tables do not say otherwise.
const SCALE: f64 = 0.02;

/// Blocks in the rules of fixed size.
const FIXED: usize = 10;

/// Either confidence sequence, watched for a verdict at one margin, so that both go through the same
/// simulations.
pub(crate) trait Watched {
    fn start(margin: f64) -> Self;
    fn add(&mut self, d: f64);
    fn verdict(&self) -> Verdict;
    /// The fortune of the bet that the true log ratio is less than 0.
    fn e_less(&self) -> f64;
}

/// Watches the sequence of signs.
pub(crate) struct Signs {
    sequence: Sequence,
    margin: f64,
}

impl Watched for Signs {
    fn start(margin: f64) -> Self {
        Self {
            sequence: Sequence::new(ALPHA),
            margin,
        }
    }

    fn add(&mut self, d: f64) {
        self.sequence.push(d);
    }

    fn verdict(&self) -> Verdict {
        verdict(&self.sequence.interval(), self.margin)
    }

    fn e_less(&self) -> f64 {
        self.sequence.e_less(0.0)
    }
}

/// Watches the sequence of sizes.
///
/// Its interval takes thousands of bets to find, but no verdict is possible before a bet against 0 or against
/// both edges of the band has won: following these three saves the interval nearly always, and changes
/// nothing.
pub(crate) struct Sizes {
    sequence: SymmetricSequence,
    margin: f64,
    zero: Bets,
    lower_edge: Bets,
    upper_edge: Bets,
}

impl Watched for Sizes {
    fn start(margin: f64) -> Self {
        let band = margin.ln_1p();
        Self {
            sequence: SymmetricSequence::new(ALPHA),
            margin,
            zero: Bets::against(0.0),
            lower_edge: Bets::against(-band),
            upper_edge: Bets::against(band),
        }
    }

    fn add(&mut self, d: f64) {
        self.sequence.push(d);
        if let Some(round) = self.sequence.last_round() {
            for bets in [&mut self.zero, &mut self.lower_edge, &mut self.upper_edge] {
                bets.play(round);
            }
        }
    }

    fn verdict(&self) -> Verdict {
        // A hair below 2/α, so that rounding cannot hide a verdict.
        let needed = (1.99 / ALPHA).ln();
        let zero = self.zero.ln_fortunes();
        let possible = zero.less >= needed
            || zero.greater >= needed
            || (self.lower_edge.ln_fortunes().greater >= needed
                && self.upper_edge.ln_fortunes().less >= needed);
        if possible {
            verdict(&self.sequence.interval(), self.margin)
        } else {
            Verdict::Undecided
        }
    }

    fn e_less(&self) -> f64 {
        self.zero.ln_fortunes().less.exp()
    }
}

/// Watches a session after every block until the verdict falls, at most `blocks` long: the verdict and when.
pub(crate) fn watch<S: Watched>(session: &mut Session<'_>, blocks: usize, margin: f64) -> (Verdict, usize) {
    let mut sequence = S::start(margin);
    for block in 1..=blocks {
        sequence.add(session.block());
        let word = sequence.verdict();
        if word.is_decided() {
            return (word, block);
        }
    }
    (Verdict::Undecided, blocks)
}

/// The rules for a number of blocks fixed beforehand, with no true effect.
#[must_use]
pub fn fixed_size(sessions: usize, seed: u64) -> Vec<Row> {
    type Rule = (&'static str, fn(&[f64], u64) -> bool);
    let rules: [Rule; 3] = [
        ("signed-rank p < α, 10 blocks", |d, _| {
            signed_rank::p_value(d) <= ALPHA
        }),
        ("signed-rank interval misses 0, 10 blocks", |d, _| {
            signed_rank::interval(d, ALPHA).is_some_and(|i| !i.contains(0.0))
        }),
        ("sign flip p < α, 10 blocks", |d, seed| {
            sign_flip::sign_flip_p(d, seed) <= ALPHA
        }),
    ];
    let mut rows = Vec::new();
    for (rule, errs) in rules {
        for noise in Noise::ALL {
            let error = share(sessions, seed, |random| {
                let pattern_seed = random.u64(..);
                let mut session = Session::new(noise, SCALE, 0.0, random);
                let d: Vec<f64> = (0..FIXED).map(|_| session.block()).collect();
                errs(&d, pattern_seed)
            });
            rows.push(Row {
                rule,
                data: noise.name(),
                alpha: ALPHA,
                error,
                n: sessions,
                promised: noise.is_symmetric(),
            });
        }
    }
    rows
}

/// The sequences, looked at after every block.
#[must_use]
pub fn watched(sessions: usize, seed: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for noise in Noise::ALL {
        let [by_60, by_200, equivalent] = watched_on::<Signs>(noise, sessions, seed);
        let row = |rule, error, promised| Row {
            rule,
            data: noise.name(),
            alpha: ALPHA,
            error,
            n: sessions,
            promised,
        };
        let promised = noise.has_median_zero();
        rows.push(row("signs: faster or slower, up to 60", by_60, promised));
        rows.push(row("signs: faster or slower, up to 200", by_200, promised));
        rows.push(row(
            "signs: equivalent at the edge, up to 200",
            equivalent,
            promised,
        ));
        let [by_60, by_200, equivalent] = watched_on::<Sizes>(noise, sessions, seed);
        let promised = noise.is_symmetric();
        rows.push(row("sizes: faster or slower, up to 60", by_60, promised));
        rows.push(row("sizes: faster or slower, up to 200", by_200, promised));
        rows.push(row(
            "sizes: equivalent at the edge, up to 200",
            equivalent,
            promised,
        ));
    }
    rows
}

/// The error rates of one sequence: a change claimed where there is none, within 60 and within 200 blocks,
/// and equivalence claimed where the effect is exactly the margin.
fn watched_on<S: Watched>(noise: Noise, sessions: usize, seed: u64) -> [f64; 3] {
    let mut by_60 = 0_usize;
    let by_200 = share(sessions, seed, |random| {
        // With a margin of 0 "equivalent" can hide no error.
        let (word, block) = watch::<S>(&mut Session::new(noise, SCALE, 0.0, random), 200, 0.0);
        let errs = matches!(word, Verdict::Faster | Verdict::Slower);
        by_60 += usize::from(errs && block <= 60);
        errs
    });
    let equivalent = share(sessions, seed, |random| {
        let edge = MARGIN.ln_1p();
        let effect = if random.bool() { edge } else { -edge };
        // Less noise than elsewhere, or nothing would ever be equivalent within 200 blocks.
        let mut session = Session::new(noise, 0.5 * SCALE, effect, random);
        watch::<S>(&mut session, 200, MARGIN).0 == Verdict::Equivalent
    });
    [by_60 as f64 / sessions.max(1) as f64, by_200, equivalent]
}

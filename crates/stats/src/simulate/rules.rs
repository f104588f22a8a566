//! Error rates of the rules that compare one candidate with its baseline.

use super::noise::{Noise, Session};
use super::{Row, share};
use crate::{Interval, Sequence, SymmetricSequence, Verdict, sign_flip, signed_rank, verdict};

const ALPHA: f64 = 0.05;

/// The margin for "equivalent" in all simulations.
pub const MARGIN: f64 = 0.01;

/// The noise of a pair where the tables do not say otherwise.
const SCALE: f64 = 0.02;

/// Blocks in the rules of fixed size.
const FIXED: usize = 10;

/// Either confidence sequence, so that both go through the same simulations.
pub(crate) trait Watched {
    fn start(alpha: f64) -> Self;
    fn add(&mut self, d: f64);
    fn range(&self) -> Interval;
    /// Fortunes of the bets on "less than m" and "greater than m".
    fn fortunes(&self, m: f64) -> (f64, f64);
    /// False when no verdict is possible, found out more cheaply than by computing the interval.
    fn may_decide(&self, margin: f64) -> bool;
}

impl Watched for Sequence {
    fn start(alpha: f64) -> Self {
        Self::new(alpha)
    }
    fn add(&mut self, d: f64) {
        self.push(d);
    }
    fn range(&self) -> Interval {
        self.interval()
    }
    fn fortunes(&self, m: f64) -> (f64, f64) {
        (self.e_less(m), self.e_greater(m))
    }
    fn may_decide(&self, _margin: f64) -> bool {
        true
    }
}

impl Watched for SymmetricSequence {
    fn start(alpha: f64) -> Self {
        Self::new(alpha)
    }
    fn add(&mut self, d: f64) {
        self.push(d);
    }
    fn range(&self) -> Interval {
        self.interval()
    }
    fn fortunes(&self, m: f64) -> (f64, f64) {
        (self.e_less(m), self.e_greater(m))
    }
    /// An end of the interval passes m only when a fortune at m reaches 2/α.
    fn may_decide(&self, margin: f64) -> bool {
        let needed = 1.99 / self.alpha();
        let (less, greater) = self.fortunes(0.0);
        let band = margin.ln_1p();
        less >= needed
            || greater >= needed
            || (band > 0.0 && self.e_less(band) >= needed && self.e_greater(-band) >= needed)
    }
}

/// Watches a session after every block until the verdict falls, at most `blocks` long: the verdict and when.
pub(crate) fn watch<S: Watched>(session: &mut Session<'_>, blocks: usize, margin: f64) -> (Verdict, usize) {
    let mut sequence = S::start(ALPHA);
    for block in 1..=blocks {
        sequence.add(session.block());
        if sequence.may_decide(margin) {
            let word = verdict(&sequence.range(), margin);
            if word.is_decided() {
                return (word, block);
            }
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
        let [by_60, by_200, equivalent] = watched_on::<Sequence>(noise, sessions, seed);
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
        let [by_60, by_200, equivalent] = watched_on::<SymmetricSequence>(noise, sessions, seed);
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

//! Error rates of the rules that compare one candidate with its baseline.

use std::ops::ControlFlow;

use fastrand::Rng;

use super::noise::{Noise, Session};
use super::{Row, share};
use crate::{Interval, Sequence, SymmetricSequence, Verdict, sign_flip, signed_rank, verdict};

const ALPHA: f64 = 0.05;

/// The margin for "equivalent" in all simulations.
pub const MARGIN: f64 = 0.01;

/// The noise of a pair where the tables do not say otherwise.
const SCALE: f64 = 0.02;

/// Blocks in the rules of fixed size.
const FIXED: usize = 12;

/// Either confidence sequence, so that both go through the same simulations.
pub(crate) trait Watched {
    fn start(alpha: f64) -> Self;
    fn add(&mut self, d: f64);
    fn range(&self) -> Interval;
    /// Fortunes of the bets on "less than m" and "greater than m".
    fn fortunes(&self, m: f64) -> (f64, f64);
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
}

/// Watches a session after every block until the verdict falls, at most `blocks` long: the verdict and when.
///
/// The interval is computed only when the cheap fortunes do not already rule out every verdict; that changes nothing but the
/// time taken, because an end of the interval passes m only when a fortune at m reaches 1/α.
pub(crate) fn watch<S: Watched>(session: &mut Session<'_>, blocks: usize, margin: f64) -> (Verdict, usize) {
    let mut sequence = S::start(ALPHA);
    let band = margin.ln_1p();
    let high_enough = |fortune: f64| fortune >= 1.0 / ALPHA;
    let end = (1..=blocks).try_for_each(|block| {
        sequence.add(session.block());
        let (less, greater) = sequence.fortunes(0.0);
        let possible = high_enough(less)
            || high_enough(greater)
            || (band > 0.0
                && high_enough(sequence.fortunes(band).0)
                && high_enough(sequence.fortunes(-band).1));
        if !possible {
            return ControlFlow::Continue(());
        }
        match verdict(&sequence.range(), margin) {
            Verdict::Undecided => ControlFlow::Continue(()),
            word => ControlFlow::Break((word, block)),
        }
    });
    end.break_value().unwrap_or((Verdict::Undecided, blocks))
}

/// The rules for a number of blocks fixed beforehand, with no true effect.
#[must_use]
pub fn fixed_size(sessions: usize, seed: u64) -> Vec<Row> {
    type Rule = (&'static str, fn(&[f64], u64) -> bool);
    let rules: [Rule; 3] = [
        ("signed-rank p < α, 12 blocks", |d, _| {
            signed_rank::p_value(d) <= ALPHA
        }),
        ("signed-rank interval misses 0, 12 blocks", |d, _| {
            signed_rank::interval(d, ALPHA).is_some_and(|i| !i.contains(0.0))
        }),
        ("sign flip p < α, 12 blocks", |d, seed| {
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
        let mut row = |rule, errs: &dyn Fn(&mut Rng) -> bool, promised| {
            let error = share(sessions, seed, errs);
            rows.push(Row {
                rule,
                data: noise.name(),
                alpha: ALPHA,
                error,
                n: sessions,
                promised,
            });
        };
        let symmetric = noise.is_symmetric();
        row(
            "signs: faster or slower, up to 60",
            &|r| claims_change::<Sequence>(noise, 60, r),
            true,
        );
        row(
            "signs: faster or slower, up to 200",
            &|r| claims_change::<Sequence>(noise, 200, r),
            true,
        );
        row(
            "signs: equivalent at the edge, up to 200",
            &|r| claims_none::<Sequence>(noise, r),
            true,
        );
        row(
            "sizes: faster or slower, up to 60",
            &|r| claims_change::<SymmetricSequence>(noise, 60, r),
            symmetric,
        );
        row(
            "sizes: faster or slower, up to 200",
            &|r| claims_change::<SymmetricSequence>(noise, 200, r),
            symmetric,
        );
        row(
            "sizes: equivalent at the edge, up to 200",
            &|r| claims_none::<SymmetricSequence>(noise, r),
            symmetric,
        );
    }
    rows
}

/// Nothing differs, and the margin is 0, so that "equivalent" can hide no error: is a change claimed?
fn claims_change<S: Watched>(noise: Noise, blocks: usize, random: &mut Rng) -> bool {
    let mut session = Session::new(noise, SCALE, 0.0, random);
    matches!(
        watch::<S>(&mut session, blocks, 0.0).0,
        Verdict::Faster | Verdict::Slower
    )
}

/// The effect is exactly the margin, on either side: is "equivalent" claimed?
fn claims_none<S: Watched>(noise: Noise, random: &mut Rng) -> bool {
    let edge = MARGIN.ln_1p();
    let effect = if random.bool() { edge } else { -edge };
    // Less noise than elsewhere, or nothing would ever be equivalent within 200 blocks.
    let mut session = Session::new(noise, 0.5 * SCALE, effect, random);
    watch::<S>(&mut session, 200, MARGIN).0 == Verdict::Equivalent
}

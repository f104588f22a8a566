//! The always-valid confidence sequence: an interval for the median log ratio that one may watch while it
//! grows.
//!
//! A test of fixed size errs in 5 % of the cases when it is looked at once. Looked at after every block and
//! stopped when it pleases, it errs in 20 to 40 %. Yet stopping as soon as the matter is clear is what saves
//! the time. The way out is a bet: play against the hypothesis "the median is m" with a stake of 1. If m is
//! the median, every difference lies above it with probability 1/2, the game is fair, and by Ville's
//! inequality the fortune *ever* exceeds 1/α with probability at most α. So all m against which the fortune
//! is still below 1/α form an interval that contains the median at all times together with probability at
//! least 1 − α, and any stopping rule is allowed.
//!
//! The fortune after t differences, of which S lie above m, is
//!
//! > E(m) = mean over a in {1, 3, 10, 30} of 2^t · B(a+S, a+t−S) / B(a, a)
//!
//! a bet on coins of unknown bias, averaged over symmetric Beta(a, a) guesses of the bias: a = 1 wins on
//! blatant effects, a = 30 on slight ones. It uses signs only, so it needs no model of the noise, and a run
//! that took a hundred times too long counts as one sign. (Robbins 1970; Howard and Ramdas, arXiv 1906.09712;
//! Waudby-Smith and Ramdas, arXiv 2010.09686.)
//!
//! **Ties.** Counted numbers (faults, pages) often equal m exactly. A tie could be taken as above or below,
//! so S may be anything from #{d > m} to #{d ≥ m}, and the fortune is the *smallest* over that range: a fair
//! coin thrown for each tie would give an S in that range, and the guarantee holds for it. In words: m leaves
//! only when even the more favourable count excludes it, on the same side. (Asking merely that both ends of
//! the range exclude m is wrong: if all values equal m, then 0 and t are both extreme.)

use crate::Interval;
use crate::hodges_lehmann::hodges_lehmann;
use crate::special::{incomplete_beta, ln_beta};

/// The parameters of the guesses that the bet is averaged over.
const GUESSES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// The confidence sequence of a median; feed it one difference per block.
#[derive(Debug, Clone)]
pub struct Sequence {
    alpha: f64,
    /// Ascending, without the NaN.
    sorted: Vec<f64>,
    /// NaN count: each could lie on either side of any m.
    unknown: usize,
    /// [`excluding_count`] of the data so far.
    excluding: Option<usize>,
}

impl Sequence {
    /// A sequence that errs with probability at most `alpha` over its whole life.
    ///
    /// An `alpha` that is not between 0 and 1 gives a sequence whose interval stays unbounded.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            sorted: Vec::new(),
            unknown: 0,
            excluding: None,
        }
    }

    /// Adds one difference.
    ///
    /// Infinite values are ordered like any other. A NaN is counted as a tie with every m: it is not dropped,
    /// it makes the interval wider.
    pub fn push(&mut self, d: f64) {
        if d.is_nan() {
            self.unknown += 1;
        } else {
            let place = self.sorted.partition_point(|v| *v <= d);
            self.sorted.insert(place, d);
        }
        // One more coin raises the count by one or not at all: a fortune is the mean of the two that may
        // follow it, and it grows with the count.
        let t = self.len();
        self.excluding = match self.excluding {
            None => excluding_count(t, self.alpha),
            Some(k) => Some(if excludes(k, t, self.alpha) { k } else { k + 1 }),
        };
    }

    /// How many differences were added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len() + self.unknown
    }

    /// True before the first difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The probability of ever being wrong that was asked for.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// All medians that are still possible. Unbounded until 10 (at 5 %) differences agree.
    ///
    /// The fortune depends on m only through counts, so the ends are differences themselves: with k the
    /// smallest count that excludes, m is too low when k differences lie above it and too high when k lie
    /// below it. What remains runs from the k-th largest to the k-th smallest, both included. Logarithmic
    /// time.
    ///
    /// The interval is that of the data now, not the intersection with the earlier ones: it is as valid, and
    /// when the machine drifts it moves instead of becoming empty.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let Some(k) = self.excluding else {
            return Interval::UNBOUNDED;
        };
        let known = self.sorted.len();
        if k > known {
            return Interval::UNBOUNDED;
        }
        Interval {
            low: self.sorted[known - k],
            high: self.sorted[k - 1],
        }
    }

    /// The fortune of the two-sided bet against "the median is `m`", ties counted in favour of `m`; 1 at the
    /// start.
    ///
    /// `m` is outside [`Sequence::interval`] exactly when this is at least 1/α.
    #[must_use]
    pub fn e_value(&self, m: f64) -> f64 {
        let (above, below) = (self.above(m), self.below(m));
        let t = self.len();
        // S may be anything from `above` to `t - below`; E is smallest nearest to t/2 (an S of t/2 exactly
        // may be a half).
        let s = (0.5 * t as f64).clamp(above as f64, (t - below) as f64);
        ln_fortune(s, t as f64).exp()
    }

    /// The fortune of a bet that the median is less than `m`, valid against every median of `m` or more.
    ///
    /// This is the e-value for "the candidate is faster than exp(m)" that [`crate::e_bh`] takes. The guesses
    /// are those of the two-sided bet restricted to the half that says "less", so it is up to twice as large.
    #[must_use]
    pub fn e_less(&self, m: f64) -> f64 {
        let below = self.below(m);
        one_sided_fortune(below as f64, self.len() as f64)
    }

    /// The fortune of a bet that the median is greater than `m`, valid against every median of `m` or less.
    #[must_use]
    pub fn e_greater(&self, m: f64) -> f64 {
        let above = self.above(m);
        one_sided_fortune(above as f64, self.len() as f64)
    }

    /// The point to print beside [`Sequence::interval`]: the Hodges-Lehmann estimate, moved into the interval
    /// if needed.
    ///
    /// For skewed data the median of all pairwise averages is not the median, and once the interval is narrow
    /// it may lie outside. A report that shows a point outside its own interval would be absurd. `None`
    /// without finite data.
    #[must_use]
    pub fn point(&self) -> Option<f64> {
        point_within(&self.sorted, &self.interval())
    }

    /// How many differences lie certainly above `m`.
    fn above(&self, m: f64) -> usize {
        if m.is_nan() {
            0
        } else {
            self.sorted.len() - self.sorted.partition_point(|v| *v <= m)
        }
    }

    /// How many differences lie certainly below `m`.
    fn below(&self, m: f64) -> usize {
        if m.is_nan() {
            0
        } else {
            self.sorted.partition_point(|v| *v < m)
        }
    }
}

/// The Hodges-Lehmann estimate of the finite values of `d`, moved to the nearer end of `interval` if it lies
/// outside.
pub(crate) fn point_within(d: &[f64], interval: &Interval) -> Option<f64> {
    let finite: Vec<f64> = d.iter().copied().filter(|v| v.is_finite()).collect();
    hodges_lehmann(&finite).map(|point| point.max(interval.low).min(interval.high))
}

/// The logarithm of the two-sided fortune with `s` of `t` coins on one side.
fn ln_fortune(s: f64, t: f64) -> f64 {
    ln_mean_exp(GUESSES.map(|a| ln_one_fortune(a, s, t)))
}

/// The logarithm of the fortune against one guess.
fn ln_one_fortune(a: f64, s: f64, t: f64) -> f64 {
    t * std::f64::consts::LN_2 + ln_beta(a + s, a + t - s) - ln_beta(a, a)
}

/// The fortune of the bet that coins fall on the winning side more often than not, `wins` of `t` of which
/// did.
fn one_sided_fortune(wins: f64, t: f64) -> f64 {
    let logs = GUESSES.map(|a| {
        // The share of the posterior on the betting side over the share of the guess there, which is 1/2.
        let share = incomplete_beta(0.5, a + t - wins, a + wins);
        ln_one_fortune(a, wins, t) + (2.0 * share).ln()
    });
    ln_mean_exp(logs).exp()
}

/// The logarithm of the mean of exponentials, safe against overflow.
fn ln_mean_exp(logs: [f64; GUESSES.len()]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: f64 = logs.iter().map(|l| (l - largest).exp()).sum();
    largest + (sum / GUESSES.len() as f64).ln()
}

/// The smallest count on one side, out of `t`, with which the fortune reaches 1/`alpha`; `None` when not even
/// `t` do.
///
/// It is always more than t/2, because at t/2 the fortune is at most 1.
#[must_use]
pub fn excluding_count(t: usize, alpha: f64) -> Option<usize> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    if t == 0 || !excludes(t, t, alpha) {
        return None;
    }
    // The fortune grows with s beyond t/2, so halving finds the first.
    let (mut no, mut yes) = (t / 2, t);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if excludes(middle, t, alpha) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Some(yes)
}

/// True when `s` of `t` coins on one side bring the fortune to 1/`alpha`.
fn excludes(s: usize, t: usize, alpha: f64) -> bool {
    ln_fortune(s as f64, t as f64) >= -alpha.ln()
}

//! The one word at the end of a comparison, derived from one interval so that word and interval can never
//! disagree.
//!
//! With two words ("changed", "unchanged") every comparison that ran out of time would have to lie. There are
//! four: *faster*, *slower*, *equivalent* (any difference is too small to matter) and *undecided*.
//!
//! All are read off an interval I of the log ratio that contains the truth θ with probability at least 1 − α:
//!
//! | word | rule | wrong when | which happens with probability |
//! |---|---|---|---|
//! | equivalent | I inside (−δ, δ), δ = ln(1 + margin) | θ outside that band | ≤ α, since I then misses θ |
//! | faster | I below 0, not equivalent | θ ≥ 0 | ≤ α, likewise |
//! | slower | I above 0, not equivalent | θ ≤ 0 | ≤ α, likewise |
//! | undecided | otherwise | never | |
//!
//! All of these errors require I to miss θ, so *together* they have probability at most α.
//!
//! Two decisions are in this table. The band is symmetric in logs: from 1/(1 + margin) to 1 + margin, so that
//! exchanging baseline and candidate exchanges faster and slower and nothing else (for 1 %: 0.99010 to 1.01,
//! a hair stricter than 0.99 to 1.01). And an interval that lies inside the band but not around 0 is
//! *equivalent*: the user has said that less than the margin does not matter, and to shout "slower" at 0.2 %
//! would bury what does. The direction is not lost, the interval stands beside the word.

use crate::Interval;

/// How a candidate compares with its baseline. The metric is one of which less is better (time, bytes,
/// faults).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The candidate needs less.
    Faster,
    /// The candidate needs more.
    Slower,
    /// Any difference is smaller than the margin.
    Equivalent,
    /// The data exclude neither.
    Undecided,
}

impl Verdict {
    /// The word as it appears in reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }

    /// True unless undecided: more blocks are not needed.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self != Self::Undecided
    }
}

/// Reads the verdict off an `interval` of the log ratio candidate / baseline.
///
/// `margin` is the relative difference that does not matter, 0.01 for 1 %; the band is open, so a margin of 0
/// (or a negative or NaN one) means that nothing is ever equivalent. A NaN in the interval leaves it
/// undecided.
#[must_use]
pub fn verdict(interval: &Interval, margin: f64) -> Verdict {
    let band = margin.ln_1p();
    if -band < interval.low && interval.high < band {
        Verdict::Equivalent
    } else if interval.high < 0.0 && interval.low <= interval.high {
        Verdict::Faster
    } else if interval.low > 0.0 && interval.low <= interval.high {
        Verdict::Slower
    } else {
        Verdict::Undecided
    }
}

/// True when the candidate is better than its baseline by more than what does not matter: the upper end of
/// the ratio lies below 1 − `margin`.
///
/// This is what a winner must show on fresh blocks before it is recommended; being merely [`Verdict::Faster`]
/// does not do, since the interval may end just below 1. False for a margin of 1 or more, and for NaN.
#[must_use]
pub fn beats_margin(interval: &Interval, margin: f64) -> bool {
    interval.low <= interval.high && interval.high < (-margin).ln_1p()
}

/// The smallest effect (as a log ratio, positive) that these data would have shown in either direction.
///
/// If the same data had been shifted so that their centre lay at this distance from 0, the interval would
/// just touch 0; it is the longer of the interval's two arms about `point`. `exp(x) − 1` is the relative
/// effect. `None` while the interval is unbounded: nothing could have been seen yet.
#[must_use]
pub fn smallest_detectable(point: f64, interval: &Interval) -> Option<f64> {
    let longer_arm = (point - interval.low).max(interval.high - point).max(0.0);
    longer_arm.is_finite().then_some(longer_arm)
}

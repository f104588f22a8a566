//! An estimate with its interval for a set of trials whose number was fixed beforehand.
//!
//! Two intervals that need no model of the noise: the one for the *median*, from order statistics, asks
//! nothing of the distribution; the one for the *centre of symmetry* from signed ranks
//! ([`crate::signed_rank`]) is about a fifth narrower for the same data and exists from 6 values on, also the
//! number at which order statistics begin.

use crate::hodges_lehmann::hodges_lehmann;
use crate::special::incomplete_beta;
use crate::summary::sorted;
use crate::{Interval, signed_rank};

/// A value with the interval that says how far to trust it, in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate itself.
    pub point: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The number of values it rests on.
    pub n: usize,
}

impl Estimate {
    /// The interval alone.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval {
            low: self.low,
            high: self.high,
        }
    }
}

/// The Hodges-Lehmann estimate of the centre of `values`, one per trial, with its signed-rank interval at
/// level 1 − `alpha`.
///
/// `None` when a value is not finite or there are too few: 95 % takes 6 trials, 99 % takes 8.
#[must_use]
pub fn estimate(values: &[f64], alpha: f64) -> Option<Estimate> {
    let point = hodges_lehmann(values)?;
    let Interval { low, high } = signed_rank::interval(values, alpha)?;
    Some(Estimate {
        point,
        low,
        high,
        n: values.len(),
    })
}

/// The interval from order statistics that contains the median with probability at least 1 − `alpha`.
///
/// `None` when a value is NaN, `alpha` is not between 0 and 1, or there are too few values. Holds for every
/// distribution, ties included (David and Nagaraja, *Order Statistics*, §7.1).
#[must_use]
pub fn median_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let sorted = sorted(values)?;
    let n = sorted.len();
    // x_(k) to x_(n+1-k) misses the median with probability 2 P(Binomial(n, 1/2) < k): the largest such k is
    // wanted.
    let misses = |k: usize| 2.0 * incomplete_beta(0.5, (n - k + 1) as f64, k as f64) > alpha;
    let (mut good, mut bad) = (0, n / 2 + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if misses(middle) {
            bad = middle;
        } else {
            good = middle;
        }
    }
    (good > 0).then(|| Interval {
        low: sorted[good - 1],
        high: sorted[n - good],
    })
}

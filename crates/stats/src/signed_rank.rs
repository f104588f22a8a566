//! Wilcoxon's signed-rank test and the interval that belongs to it, for a number of blocks fixed beforehand.
//!
//! If differences are symmetric about 0 then, given their sizes, each sign is a fair coin. The statistic W
//! adds the ranks (by size) of the positive ones; its distribution under fair coins is known exactly,
//! whatever the noise looks like. Collecting all shifts m that the test on d − m does not reject gives an
//! interval, and its ends are Walsh averages; the centre is the Hodges-Lehmann estimate (Hollander, Wolfe and
//! Chicken, *Nonparametric Statistical Methods*, chapter 3).
//!
//! Whoever looks at the result to decide whether to go on must use [`crate::sequence`] instead: looking after
//! every block lets this test err several times as often as it says.

use crate::Interval;
use crate::hodges_lehmann::{nth_walsh_average, walsh_count};
use crate::special::{normal_cdf, normal_quantile};
use crate::summary::sorted;

/// Up to this many differences the distribution is enumerated, beyond it is taken as normal; the error of a 5
/// % level is then below 0.0005.
pub const EXACT_UP_TO: usize = 60;

/// The interval for the centre of symmetry of `d` that holds with probability at least 1 − `alpha`.
///
/// `None` when a value is not finite, `alpha` is not between 0 and 1, or there are too few values: 5 cannot
/// give 95 %, because even five equal signs have probability 1/16; 6 can. With ties the interval errs on the
/// wide side.
#[must_use]
pub fn interval(d: &[f64], alpha: f64) -> Option<Interval> {
    if d.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let rank = interval_rank(d.len(), alpha)?;
    let sorted = sorted(d)?;
    Some(Interval {
        low: nth_walsh_average(&sorted, rank),
        high: nth_walsh_average(&sorted, walsh_count(d.len()) + 1 - rank),
    })
}

/// The rank, from 1, of the Walsh average that ends the interval from below.
fn interval_rank(n: usize, alpha: f64) -> Option<u64> {
    if !(alpha > 0.0 && alpha < 1.0) || n == 0 {
        return None;
    }
    let rank = if n <= EXACT_UP_TO {
        // The number of values of W, from 0 up, whose total probability stays within alpha/2.
        let doubled_ranks: Vec<usize> = (1..=n).map(|r| 2 * r).collect();
        let mut tail = 0.0;
        let probabilities = distribution(&doubled_ranks);
        let within = probabilities.iter().step_by(2).take_while(|p| {
            tail += **p;
            tail <= 0.5 * alpha
        });
        within.count() as u64
    } else {
        let size = n as f64;
        let mean = size * (size + 1.0) / 4.0;
        let deviation = (mean * (2.0 * size + 1.0) / 6.0).sqrt();
        // Half a step of continuity correction, then down to the next rank: never too narrow.
        (mean + normal_quantile(0.5 * alpha) * deviation + 0.5)
            .floor()
            .max(0.0) as u64
    };
    (rank > 0).then_some(rank)
}

/// The two-sided p-value of the hypothesis that `d` is symmetric about 0.
///
/// Zeros say nothing about a direction and are left out, as Wilcoxon did. Equal sizes share their mean rank;
/// up to [`EXACT_UP_TO`] remaining values the distribution given these ties is exact, beyond it is normal
/// with the variance corrected for ties and half a step of continuity. 1 when nothing remains; NaN when a
/// value is NaN.
#[must_use]
pub fn p_value(d: &[f64]) -> f64 {
    if d.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let ranks = doubled_mid_ranks(d);
    if ranks.is_empty() {
        return 1.0;
    }
    let total: usize = ranks.iter().map(|r| r.doubled).sum();
    let positive: usize = ranks.iter().filter(|r| r.positive).map(|r| r.doubled).sum();
    let smaller = positive.min(total - positive);
    if ranks.len() <= EXACT_UP_TO {
        let doubled: Vec<usize> = ranks.iter().map(|r| r.doubled).collect();
        let tail: f64 = distribution(&doubled)[..=smaller].iter().sum();
        return (2.0 * tail).min(1.0);
    }
    // W is a sum of independent ranks, each present or absent: its variance is a quarter of the sum of
    // squares. With mid-ranks this *is* the correction for ties.
    let variance = ranks
        .iter()
        .map(|r| (0.5 * r.doubled as f64).powi(2))
        .sum::<f64>()
        / 4.0;
    let distance = 0.5 * (0.5 * total as f64 - smaller as f64) - 0.5;
    (2.0 * normal_cdf(-distance.max(0.0) / variance.sqrt())).min(1.0)
}

/// A difference as the test sees it.
struct Ranked {
    /// Twice the mean rank of its size, which is whole even with ties.
    doubled: usize,
    positive: bool,
}

fn doubled_mid_ranks(d: &[f64]) -> Vec<Ranked> {
    let mut by_size: Vec<f64> = d.iter().copied().filter(|v| *v != 0.0).collect();
    by_size.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut ranked = Vec::with_capacity(by_size.len());
    for group in by_size.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranked.len() + 1;
        let last = ranked.len() + group.len();
        ranked.extend(group.iter().map(|v| Ranked {
            doubled: first + last,
            positive: *v > 0.0,
        }));
    }
    ranked
}

/// The probabilities of each total from 0 up when each of `weights` is added or not by a fair coin.
fn distribution(weights: &[usize]) -> Vec<f64> {
    let mut probability = vec![0.0; weights.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    let mut reached = 0;
    for &weight in weights {
        reached += weight;
        for total in (0..=reached).rev() {
            let with = if total >= weight {
                probability[total - weight]
            } else {
                0.0
            };
            probability[total] = 0.5 * (probability[total] + with);
        }
    }
    probability
}

//! A description of a set of numbers: it says what was seen and claims nothing beyond.
//!
//! Medians and quartiles stand beside mean and standard deviation because one run in which the machine did
//! something else moves the latter two as far as it likes.

/// What a set of samples looks like. All values carry the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many values there are, at least 1.
    pub n: usize,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The sample standard deviation (divisor n−1); 0 for a single value.
    pub sd: f64,
    /// The median absolute deviation from the median, unscaled (times 1.4826 it estimates a normal sd).
    pub mad: f64,
    /// The lower quartile, as [`quantile`] defines it.
    pub q1: f64,
    /// The upper quartile.
    pub q3: f64,
}

impl Summary {
    /// Describes `values`, in any order.
    ///
    /// `None` when the slice is empty or holds a NaN: a summary of "not a number" would be a wrong number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values)?;
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len();
        let mean = sorted.iter().map(|v| v / n as f64).sum::<f64>();
        let squares = sorted.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        let median = quantile_of_sorted(&sorted, 0.5);
        let deviations: Vec<f64> = sorted.iter().map(|v| (v - median).abs()).collect();
        Some(Self {
            n,
            min,
            max,
            mean,
            median,
            sd: if n > 1 {
                (squares / (n - 1) as f64).sqrt()
            } else {
                0.0
            },
            // Infinite samples make NaN deviations; the spread is then as unknown as it is large.
            mad: self::median(&deviations).unwrap_or(f64::INFINITY),
            q1: quantile_of_sorted(&sorted, 0.25),
            q3: quantile_of_sorted(&sorted, 0.75),
        })
    }
}

/// The `p`-quantile of `values`, `p` from 0 to 1 (values outside are taken as the nearer end).
///
/// The definition is number 7 of Hyndman and Fan (The American Statistician 50, 1996), the default of R and
/// NumPy: linear between the order statistics, minimum at 0, maximum at 1. `None` when the slice is empty or
/// holds a NaN, or `p` is NaN.
#[must_use]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let sorted = sorted(values)?;
    (!sorted.is_empty() && !p.is_nan()).then(|| quantile_of_sorted(&sorted, p))
}

/// The median of `values`; `None` when the slice is empty or holds a NaN.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// `values` in ascending order; `None` when one is NaN.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    Some(copy)
}

/// The median of an ascending slice without NaN; `None` when it is empty.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| quantile_of_sorted(sorted, 0.5))
}

/// As [`quantile`], for a slice that is ascending and not empty.
fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let place = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    let part = place - place.floor();
    // Equal neighbours are returned untouched: rounding, or infinity minus infinity, must not invent a value.
    if below == above || part == 0.0 {
        below
    } else {
        below * (1.0 - part) + above * part
    }
}

//! The test that randomisation itself provides: exchange the labels and see how special the result was.
//!
//! Inside each block the order of baseline and candidate was drawn by a coin. If the candidate makes no
//! difference, then exchanging the two labels of any block, which flips the sign of its log ratio, gives data
//! that were just as likely. That holds under drift, autocorrelation and any noise, because the coin was ours
//! (Fisher, *The Design of Experiments*, 1935). The p-value is the share of all sign patterns that are at
//! least as extreme.
//!
//! The statistic is the sum of the differences, each cut to at most three times the median size. The sizes do
//! not change when signs flip, so the cut costs no exactness; without it a single run that took a hundred
//! times too long decides alone and hides every real effect.

/// Up to this many non-zero differences all sign patterns are tried.
pub const EXACT_UP_TO: usize = 16;

/// How many random sign patterns are tried beyond that.
pub const RANDOM_PATTERNS: u32 = 20_000;

/// Differences beyond this many median sizes are cut.
const CUT: f64 = 3.0;

/// The two-sided p-value of the hypothesis that flipping any sign of `d` changes nothing.
///
/// Exact up to [`EXACT_UP_TO`] non-zero values; beyond, (k+1)/(m+1) with k of m = [`RANDOM_PATTERNS`] random
/// patterns at least as extreme, which is a valid p-value in itself (Phipson and Smyth 2010), drawn from
/// `seed`. Zeros do not matter. 1 when nothing remains; NaN when a value is NaN.
#[must_use]
pub fn sign_flip_p(d: &[f64], seed: u64) -> f64 {
    if d.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let scores = cut_scores(d);
    if scores.is_empty() {
        return 1.0;
    }
    // Sums of the same terms in another order differ by rounding; such patterns are ties and count as
    // extreme.
    let tolerance = 1e-12 * scores.iter().map(|s| s.abs()).sum::<f64>();
    let limit = scores.iter().sum::<f64>().abs() - tolerance;
    if scores.len() <= EXACT_UP_TO {
        exact(&scores, limit)
    } else {
        sampled(&scores, limit, seed)
    }
}

/// The non-zero differences, cut to [`CUT`] times their median size.
fn cut_scores(d: &[f64]) -> Vec<f64> {
    let mut scores: Vec<f64> = d.iter().copied().filter(|v| *v != 0.0).collect();
    let sizes: Vec<f64> = scores.iter().map(|s| s.abs()).collect();
    let limit = crate::summary::median(&sizes)
        .map_or(0.0, |m| CUT * m)
        .min(f64::MAX / 1e6);
    for score in &mut scores {
        *score = score.clamp(-limit, limit);
    }
    scores
}

fn exact(scores: &[f64], limit: f64) -> f64 {
    let patterns = 1_u32 << scores.len();
    let mut signed = scores.to_vec();
    let mut extreme = 0_u32;
    for pattern in 0..patterns {
        // A Gray code visits every pattern by flipping one sign at a time.
        if pattern > 0 {
            let flipped = pattern.trailing_zeros() as usize;
            signed[flipped] = -signed[flipped];
        }
        extreme += u32::from(signed.iter().sum::<f64>().abs() >= limit);
    }
    f64::from(extreme) / f64::from(patterns)
}

fn sampled(scores: &[f64], limit: f64, seed: u64) -> f64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut extreme = 0_u32;
    for _ in 0..RANDOM_PATTERNS {
        let mut sum = 0.0;
        for chunk in scores.chunks(64) {
            let mut coins = random.u64(..);
            for score in chunk {
                sum += if coins & 1 == 1 { *score } else { -*score };
                coins >>= 1;
            }
        }
        extreme += u32::from(sum.abs() >= limit);
    }
    f64::from(extreme + 1) / f64::from(RANDOM_PATTERNS + 1)
}

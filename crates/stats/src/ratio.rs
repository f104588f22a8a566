//! The ratio of two measurements that were *not* paired, such as two stored runs.
//!
//! Dividing two intervals end by end is too wide, and the usual error propagation fails when the denominator
//! is uncertain. Fieller (Journal of the Royal Statistical Society B 16, 1954) asks which ratios r the data
//! allow: x − r·y has mean 0 for the true r, so r is possible when (x − r·y)² ≤ h_x² + r²·h_y². That is a
//! quadratic in r, and its roots are the ends.
//!
//! Unpaired ratios carry all the drift between the two sessions. Where blocks exist, use [`crate::sequence`].

use crate::Interval;
use crate::special::student_quantile;
use crate::summary::Summary;

/// The interval of x / y for independent `x ± half_x` and `y ± half_y` at the same level.
///
/// `None` when the interval of y contains 0 (then every ratio is possible), or an argument is not finite or a
/// half width is negative.
#[must_use]
pub fn fieller(x: f64, half_x: f64, y: f64, half_y: f64) -> Option<Interval> {
    if ![x, half_x, y, half_y].iter().all(|v| v.is_finite()) || half_x < 0.0 || half_y < 0.0 {
        return None;
    }
    let denominator = y * y - half_y * half_y;
    if y.abs() <= half_y || denominator <= 0.0 {
        return None;
    }
    // (xy)² − (x² − h_x²)(y² − h_y²), written so that nothing cancels.
    let root = (half_x * half_x * denominator + x * x * half_y * half_y).sqrt();
    Some(Interval {
        low: (x * y - root) / denominator,
        high: (x * y + root) / denominator,
    })
}

/// The interval of mean(x) / mean(y) of two independent sets, at level 1 − `alpha`.
///
/// Each half width is Student's t times the standard error, with the degrees of freedom of Welch and
/// Satterthwaite for the difference x − r·y at the estimated ratio. This one does assume that means make
/// sense: feed it one value per trial, or logarithms. `None` when a set has fewer than 2 values or one that
/// is not finite, or the denominator is not distinguishable from 0.
#[must_use]
pub fn ratio_of_means(x: &[f64], y: &[f64], alpha: f64) -> Option<Interval> {
    let (a, b) = (Summary::of(x)?, Summary::of(y)?);
    if a.n < 2 || b.n < 2 || !(alpha > 0.0 && alpha < 1.0) || b.mean == 0.0 {
        return None;
    }
    let ratio = a.mean / b.mean;
    let (square_a, square_b) = (a.sd * a.sd / a.n as f64, b.sd * b.sd / b.n as f64);
    let (part_a, part_b) = (square_a, ratio * ratio * square_b);
    let spread = part_a * part_a / (a.n - 1) as f64 + part_b * part_b / (b.n - 1) as f64;
    let t = if spread > 0.0 {
        student_quantile(1.0 - 0.5 * alpha, (part_a + part_b).powi(2) / spread)
    } else {
        0.0
    };
    fieller(a.mean, t * square_a.sqrt(), b.mean, t * square_b.sqrt())
}

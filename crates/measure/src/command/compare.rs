//! The log ratios of all blocks so far, and the verdicts that follow from them.

use record::model::{Block, CommandMetric, Comparison, Entry, NoiseFloor, Verdict};
use stats::Interval;
use stats::hodges_lehmann::hodges_lehmann;
use stats::sequence::Sequence;

/// How comparisons are judged.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Error rate of each confidence sequence.
    pub alpha: f64,
    /// Relative difference that does not matter.
    pub margin: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            margin: 0.01,
        }
    }
}

/// ln(candidate / baseline). Counts may be zero: then half an event is added to both, so that nothing is infinite
/// and equal counts tie.
fn log_ratio(candidate: f64, baseline: f64) -> f64 {
    if candidate > 0.0 && baseline > 0.0 {
        return (candidate / baseline).ln();
    }
    ((candidate.max(0.0) + 0.5) / (baseline.max(0.0) + 0.5)).ln()
}

/// The log ratios of `candidate` to `baseline` in all blocks that hold both.
#[must_use]
pub fn log_ratios<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    metric: CommandMetric,
    baseline: usize,
    candidate: usize,
) -> Vec<f64> {
    pairs(blocks, metric, baseline, candidate)
        .iter()
        .map(|&(before, after)| log_ratio(after, before))
        .collect()
}

/// The values of the baseline and of the candidate in all blocks that hold both.
#[must_use]
pub fn pairs<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    metric: CommandMetric,
    baseline: usize,
    candidate: usize,
) -> Vec<(f64, f64)> {
    let value = |block: &Block, arm| {
        block
            .entries
            .iter()
            .find(|e| e.arm == arm)
            .and_then(|e: &Entry| e.value(metric))
    };
    blocks
        .into_iter()
        .filter_map(|block| Some((value(block, baseline)?, value(block, candidate)?)))
        .collect()
}

/// The confidence sequence over log ratios.
#[must_use]
pub fn sequence(ratios: &[f64], alpha: f64) -> Sequence {
    let mut sequence = Sequence::new(alpha);
    for &ratio in ratios {
        sequence.push(ratio);
    }
    sequence
}

/// What the log ratios prove about one metric of one arm. `None` without a single pair.
#[must_use]
pub fn comparison(ratios: &[f64], metric: CommandMetric, arm: usize, rule: Rule) -> Option<Comparison> {
    let point = hodges_lehmann(ratios)?;
    let interval = sequence(ratios, rule.alpha).interval();
    let verdict = verdict_of(&interval, rule.margin);
    let smallest = stats::verdict::smallest_detectable(point, &interval).map(f64::exp_m1);
    Some(Comparison {
        metric,
        arm,
        ratio: point.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
        verdict,
        blocks: ratios.len(),
        smallest_detectable: smallest.filter(|_| verdict == Verdict::Undecided),
        sign_flip_p: None,
        fixed_n: None,
    })
}

/// Adds what may be said only when the number of blocks was fixed beforehand.
#[must_use]
pub fn with_fixed_n(mut comparison: Comparison, ratios: &[f64], alpha: f64, seed: u64) -> Comparison {
    comparison.sign_flip_p = Some(stats::sign_flip::sign_flip_p(ratios, seed));
    comparison.fixed_n = stats::signed_rank::interval(ratios, alpha).map(|i| (i.low.exp(), i.high.exp()));
    comparison
}

/// The verdict of an interval of log ratios.
#[must_use]
pub fn verdict_of(interval: &Interval, margin: f64) -> Verdict {
    match stats::verdict::verdict(interval, margin) {
        stats::verdict::Verdict::Faster => Verdict::Faster,
        stats::verdict::Verdict::Slower => Verdict::Slower,
        stats::verdict::Verdict::Equivalent => Verdict::Equivalent,
        stats::verdict::Verdict::Undecided => Verdict::Undecided,
    }
}

/// What the noise alone does: the baseline against itself.
#[must_use]
pub fn noise_floor<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    metric: CommandMetric,
    (baseline, again): (usize, usize),
    alpha: f64,
) -> Option<NoiseFloor> {
    let ratios = log_ratios(blocks, metric, baseline, again);
    let ratio = hodges_lehmann(&ratios)?.exp();
    let interval = sequence(&ratios, alpha).interval().exp();
    Some(NoiseFloor {
        ratio,
        low: interval.low,
        high: interval.high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ratios: &[f64]) -> Comparison {
        comparison(ratios, CommandMetric::ToExit, 1, Rule::default()).unwrap()
    }

    #[test]
    fn ten_unanimous_blocks_decide_and_nine_do_not() {
        let nine: Vec<f64> = (0..9).map(|i| -0.2 - 0.001 * f64::from(i)).collect();
        assert_eq!(judged(&nine).verdict, Verdict::Undecided);
        let ten: Vec<f64> = (0..10).map(|i| -0.2 - 0.001 * f64::from(i)).collect();
        let ten = judged(&ten);
        assert_eq!(ten.verdict, Verdict::Faster);
        assert!(ten.high < 1.0 && (ten.ratio - (-0.2045_f64).exp()).abs() < 1e-9);
    }

    #[test]
    fn equal_counts_tie_and_are_equivalent() {
        assert_eq!(log_ratio(0.0, 0.0), 0.0);
        assert_eq!(log_ratio(7.0, 7.0), 0.0);
        assert!(log_ratio(0.0, 3.0) < 0.0 && log_ratio(0.0, 3.0).is_finite());
        assert_eq!(judged(&[0.0; 40]).verdict, Verdict::Equivalent);
    }

    #[test]
    fn one_outlier_changes_no_verdict() {
        let mut ratios: Vec<f64> = (0..30).map(|i| -0.1 - 0.001 * f64::from(i % 7)).collect();
        let before = judged(&ratios).verdict;
        ratios.push(100_f64.ln());
        assert_eq!(
            (before, judged(&ratios).verdict),
            (Verdict::Faster, Verdict::Faster)
        );
    }
}

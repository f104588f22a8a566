//! What must hold for all data: symmetry, scale, order, and no panic whatever comes in.

use proptest::prelude::*;
use underhood_stats::e_bh::{closed_e_bh, e_bh};
use underhood_stats::hodges_lehmann::hodges_lehmann;
use underhood_stats::median_interval::median_interval;
use underhood_stats::ratio::{fieller, ratio_of_means};
use underhood_stats::sequence::excluding_count;
use underhood_stats::sign_flip::sign_flip_p;
use underhood_stats::summary::{median, quantile};
use underhood_stats::verdict::{beats_margin, smallest_detectable};
use underhood_stats::{
    Interval, Sequence, Summary, SymmetricSequence, Verdict, estimate, signed_rank, special, verdict,
};

/// Differences as they occur: a few per cent, many ties, now and then a hundredfold.
fn differences() -> impl Strategy<Value = Vec<f64>> {
    let one = prop_oneof![
        6 => -0.1..0.1_f64,
        2 => (-3..=3_i32).prop_map(|steps| f64::from(steps) / 64.0),
        1 => -4.7..4.7_f64,
    ];
    prop::collection::vec(one, 1..48)
}

/// Anything that fits in a double.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any::<f64>(), 0..30)
}

fn signs(d: &[f64]) -> Sequence {
    let mut sequence = Sequence::new(0.05);
    d.iter().for_each(|v| sequence.push(*v));
    sequence
}

fn sizes(d: &[f64]) -> SymmetricSequence {
    let mut sequence = SymmetricSequence::new(0.05);
    d.iter().for_each(|v| sequence.push(*v));
    sequence
}

fn both(d: &[f64]) -> [Interval; 2] {
    [signs(d).interval(), sizes(d).interval()]
}

/// Equal, or apart by no more than rounding in the halving can explain.
fn close(a: Interval, b: Interval) -> bool {
    let near = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-12;
    near(a.low, b.low) && near(a.high, b.high)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn exchanging_the_arms_mirrors_everything(d in differences()) {
        let mirrored: Vec<f64> = d.iter().map(|v| -v).collect();
        for (ours, other) in both(&d).into_iter().zip(both(&mirrored)) {
            prop_assert!(close(ours, other.mirrored()), "{ours:?} {other:?}");
            let swapped = match verdict(&other.mirrored(), 0.01) {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                same => same,
            };
            prop_assert_eq!(verdict(&other, 0.01), swapped);
        }
        prop_assert_eq!(hodges_lehmann(&d), hodges_lehmann(&mirrored).map(|v| 0.0 - v));
        prop_assert_eq!(signed_rank::p_value(&d), signed_rank::p_value(&mirrored));
        prop_assert_eq!(sign_flip_p(&d[..d.len().min(10)], 1), sign_flip_p(&mirrored[..d.len().min(10)], 1));
        prop_assert_eq!(signs(&d).e_less(0.01), signs(&mirrored).e_greater(-0.01));
    }

    /// Powers of two scale without rounding, so everything must follow exactly.
    #[test]
    fn results_scale_with_the_data(d in differences(), power in -20..20_i32) {
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<f64> = d.iter().map(|v| v * factor).collect();
        for (ours, other) in both(&d).into_iter().zip(both(&scaled)) {
            let expected = Interval { low: ours.low * factor, high: ours.high * factor };
            prop_assert!(close(expected, other), "{:?} {:?}", expected, other);
        }
        prop_assert_eq!(hodges_lehmann(&d).map(|v| v * factor), hodges_lehmann(&scaled));
        prop_assert_eq!(signed_rank::p_value(&d), signed_rank::p_value(&scaled));
        prop_assert_eq!(median(&d).map(|v| v * factor), median(&scaled));
    }

    #[test]
    fn the_order_does_not_matter_to_signs_and_ranks(d in differences()) {
        let mut other = d.clone();
        other.reverse();
        prop_assert_eq!(signs(&d).interval(), signs(&other).interval());
        prop_assert_eq!(hodges_lehmann(&d), hodges_lehmann(&other));
        prop_assert_eq!(estimate(&d, 0.05), estimate(&other, 0.05));
        prop_assert_eq!(signed_rank::p_value(&d), signed_rank::p_value(&other));
    }

    #[test]
    fn intervals_contain_their_points(d in differences()) {
        let median = median(&d).expect("data");
        prop_assert!(signs(&d).interval().contains(median));
        if let Some(estimate) = estimate(&d, 0.05) {
            prop_assert!(estimate.interval().contains(estimate.point));
        }
        if let Some(interval) = median_interval(&d, 0.05) {
            prop_assert!(interval.contains(median));
        }
        for (interval, point) in both(&d).into_iter().zip([signs(&d).point(), sizes(&d).point()]) {
            prop_assert!(interval.low <= interval.high);
            prop_assert!(interval.contains(point.expect("data")));
        }
    }

    /// The interval is exactly the set that the fortunes do not exclude.
    #[test]
    fn intervals_and_fortunes_agree(d in differences(), m in -0.2..0.2_f64) {
        let sequence = signs(&d);
        for m in d.iter().copied().chain([m, 0.0]) {
            prop_assert_eq!(sequence.interval().contains(m), sequence.e_value(m) < 20.0);
        }
        let sequence = sizes(&d);
        let Interval { low, high } = sequence.interval();
        let excluded = sequence.e_greater(m) >= 40.0 || sequence.e_less(m) >= 40.0;
        if (m - low).abs() > 1e-12 && (m - high).abs() > 1e-12 {
            prop_assert_eq!(low <= m && m <= high, !excluded);
        }
    }

    #[test]
    fn a_stricter_level_gives_a_wider_interval(d in differences()) {
        let (mut loose, mut strict) = (Sequence::new(0.1), Sequence::new(0.01));
        d.iter().for_each(|v| { loose.push(*v); strict.push(*v); });
        prop_assert!(strict.interval().low <= loose.interval().low && loose.interval().high <= strict.interval().high);
        let (mut loose, mut strict) = (SymmetricSequence::new(0.1), SymmetricSequence::new(0.01));
        d.iter().for_each(|v| { loose.push(*v); strict.push(*v); });
        prop_assert!(strict.interval().low <= loose.interval().low && loose.interval().high <= strict.interval().high);
    }

    #[test]
    fn quantiles_are_monotone(values in differences(), p in 0.0..1.0_f64, q in 0.0..1.0_f64) {
        let (p, q) = (p.min(q), p.max(q));
        prop_assert!(quantile(&values, p) <= quantile(&values, q));
    }

    #[test]
    fn more_evidence_selects_more(e in prop::collection::vec(0.0..400.0_f64, 1..9), which in 0..8_usize) {
        let (plain, closed) = (e_bh(&e, 0.05), closed_e_bh(&e, 0.05));
        prop_assert!(plain.iter().zip(&closed).all(|(p, c)| !p || *c), "closed e-BH contains e-BH");
        let mut more = e.clone();
        more[which % e.len()] *= 2.0;
        let counts = |flags: Vec<bool>| flags.into_iter().filter(|f| *f).count();
        prop_assert!(counts(e_bh(&more, 0.05)) >= counts(plain));
        prop_assert!(counts(closed_e_bh(&more, 0.05)) >= counts(closed));
    }

    /// Hostile input must give an answer or none, never a panic and never a NaN in an interval.
    #[test]
    fn nothing_panics(values in anything(), a in any::<f64>(), b in any::<f64>()) {
        for interval in both(&values) {
            prop_assert!(!interval.low.is_nan() && !interval.high.is_nan());
            let _ = (verdict(&interval, a), beats_margin(&interval, b), smallest_detectable(b, &interval));
        }
        let (by_sign, by_size) = (signs(&values), sizes(&values));
        let fortunes = [by_sign.e_value(a), by_sign.e_less(a), by_size.e_value(a), by_size.e_greater(a)];
        prop_assert!(fortunes.iter().all(|f| *f >= 0.0), "{fortunes:?}");
        let _ = (by_sign.point(), by_size.point());
        let _ = (Summary::of(&values), quantile(&values, a), hodges_lehmann(&values));
        let _ = (estimate(&values, a), median_interval(&values, a), signed_rank::interval(&values, b));
        let _ = (signed_rank::p_value(&values), sign_flip_p(&values[..values.len().min(8)], 1));
        let _ = (e_bh(&values, a), closed_e_bh(&values, b), ratio_of_means(&values, &values, a));
        let _ = (fieller(a, b, b, a), special::ln_gamma(a), special::ln_beta(a, b), special::normal_cdf(a));
        let _ = (special::normal_quantile(a), special::student_quantile(a, b), special::incomplete_beta(a, a, b));
        let _ = (SymmetricSequence::new(a).interval(), Sequence::new(a).interval(), excluding_count(20, a));
    }
}

/// The count that a sequence carries along is the one that the definition gives.
#[test]
fn the_excluding_count_grows_as_defined() {
    let mut sequence = Sequence::new(0.05);
    for t in 1..=300 {
        sequence.push(f64::from(t));
        let expected = excluding_count(sequence.len(), 0.05).map_or(f64::INFINITY, |k| k as f64);
        assert_eq!(sequence.interval().high, expected, "after {t}");
    }
}

/// A run that took a hundred times too long changes no verdict.
#[test]
fn one_outlier_changes_no_verdict() {
    for effect in [-0.05, 0.05, 0.0] {
        for outlier in [-4.6, 4.6] {
            for place in [0, 3, 20, 39] {
                let noise = |i: usize| 0.004 * ((i * 7919 % 41) as f64 / 20.0 - 1.0);
                let clean: Vec<f64> = (0..40).map(|i| effect + noise(i)).collect();
                let mut spoilt = clean.clone();
                spoilt[place] += outlier;
                let words = |d: &[f64]| both(d).map(|interval| verdict(&interval, 0.01));
                assert_eq!(
                    words(&clean),
                    words(&spoilt),
                    "effect {effect}, outlier {outlier} at {place}"
                );
                assert!(words(&clean).iter().all(|word| word.is_decided()));
            }
        }
    }
}

/// A NaN makes intervals wider and is never dropped.
#[test]
fn not_a_number_widens() {
    let mut d: Vec<f64> = (0..20).map(|i| 0.1 + 0.001 * f64::from(i)).collect();
    let before = both(&d);
    d.extend([f64::NAN; 3]);
    for (before, after) in before.into_iter().zip(both(&d)) {
        assert!(
            after.low < before.low && after.high > before.high,
            "{before:?} {after:?}"
        );
    }
}

/// Beyond sixteen differences patterns are drawn; the p-value stays near the exact one of sixteen.
#[test]
fn drawn_sign_patterns_agree_with_all_of_them() {
    let d: Vec<f64> = (0..16).map(|i| if i % 4 == 0 { -0.01 } else { 0.011 }).collect();
    let exact = sign_flip_p(&d, 7);
    let mut with_tiny = d.clone();
    with_tiny.push(1e-9);
    let drawn = sign_flip_p(&with_tiny, 7);
    assert!((exact - drawn).abs() < 0.01, "{exact} {drawn}");
    assert_eq!(drawn, sign_flip_p(&with_tiny, 7), "the seed decides");
}

/// The words at the boundaries.
#[test]
fn verdicts_are_read_off_the_interval() {
    let edge = 0.01_f64.ln_1p();
    let word = |low, high| verdict(&Interval { low, high }, 0.01);
    assert_eq!(word(-0.2, -0.1), Verdict::Faster);
    assert_eq!(word(0.1, 0.2), Verdict::Slower);
    assert_eq!(word(-0.2, 0.0), Verdict::Undecided);
    assert_eq!(word(0.0, 0.2), Verdict::Undecided);
    assert_eq!(word(-0.005, 0.005), Verdict::Equivalent);
    assert_eq!(
        word(0.001, 0.005),
        Verdict::Equivalent,
        "significant but smaller than what matters"
    );
    assert_eq!(word(0.001, edge), Verdict::Slower, "the edge itself matters");
    assert_eq!(word(-edge, 0.0), Verdict::Undecided);
    assert_eq!(word(f64::NEG_INFINITY, f64::INFINITY), Verdict::Undecided);
    assert_eq!(word(f64::NAN, -0.1), Verdict::Undecided);
    assert_eq!(
        verdict(&Interval { low: 0.0, high: 0.0 }, 0.0),
        Verdict::Undecided,
        "no margin, no equivalence"
    );
    assert_eq!(
        smallest_detectable(
            0.01,
            &Interval {
                low: -0.02,
                high: 0.03
            }
        ),
        Some(0.03)
    );
    assert_eq!(smallest_detectable(0.01, &Interval::UNBOUNDED), None);
}

/// How many unanimous blocks each rule needs, alone and as one of eight arms.
#[test]
fn unanimous_blocks_needed() {
    let needed = |fortune: &dyn Fn(usize) -> f64, level: f64| (1..40).find(|n| fortune(*n) >= level);
    let by_sign = |n| signs(&vec![-0.1; n]).e_less(0.0);
    let by_size = |n| sizes(&vec![-0.1; n]).e_less(0.0);
    assert_eq!(
        (needed(&by_sign, 40.0), needed(&by_size, 40.0)),
        (Some(10), Some(7))
    );
    assert_eq!(
        (needed(&by_sign, 160.0), needed(&by_size, 160.0)),
        (Some(12), Some(9))
    );
}

//! Every statistic against values made by independent implementations; `golden/README.md` says which.

use serde_json::Value;
use underhood_stats::e_bh::{closed_e_bh, e_bh};
use underhood_stats::hodges_lehmann::hodges_lehmann;
use underhood_stats::median_interval::median_interval;
use underhood_stats::ratio::ratio_of_means;
use underhood_stats::sign_flip::sign_flip_p;
use underhood_stats::summary::quantile;
use underhood_stats::{Interval, Sequence, Summary, SymmetricSequence, signed_rank, special};

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).expect("golden file is JSON");
    file["cases"].as_array().expect("golden file has cases").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(number).collect()
}

/// Equal up to a relative (below 1: absolute) difference of `tolerance`.
#[track_caller]
fn assert_close(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    let allowed = tolerance * theirs.abs().max(1.0);
    assert!(
        (ours - theirs).abs() <= allowed,
        "{what}: {ours} against {theirs}"
    );
}

/// As [`assert_close`], but relative also for small values: for tail probabilities and e-values.
#[track_caller]
fn assert_close_relative(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    assert!(
        (ours - theirs).abs() <= tolerance * theirs.abs(),
        "{what}: {ours} against {theirs}"
    );
}

#[track_caller]
fn assert_interval(ours: Option<Interval>, theirs: &Value, tolerance: f64, what: &str) {
    match (ours, theirs.as_array()) {
        (None, None) => {}
        (Some(ours), Some(ends)) => {
            if ends[0].is_null() {
                assert_eq!(ours.low, f64::NEG_INFINITY, "{what}");
            } else {
                assert_close(ours.low, number(&ends[0]), tolerance, what);
            }
            if ends[1].is_null() {
                assert_eq!(ours.high, f64::INFINITY, "{what}");
            } else {
                assert_close(ours.high, number(&ends[1]), tolerance, what);
            }
        }
        _ => panic!("{what}: {ours:?} against {theirs}"),
    }
}

#[test]
fn special_functions_agree_with_scipy() {
    for case in cases(include_str!("golden/special.json")) {
        let a = numbers(&case["arguments"]);
        let (name, value) = (case["function"].as_str().expect("a name"), number(&case["value"]));
        let what = format!("{name}{a:?}");
        match name {
            "ln_gamma" => assert_close(special::ln_gamma(a[0]), value, 1e-13, &what),
            "ln_beta" => assert_close(special::ln_beta(a[0], a[1]), value, 1e-12, &what),
            "incomplete_beta" => {
                assert_close_relative(special::incomplete_beta(a[0], a[1], a[2]), value, 1e-11, &what);
            }
            "normal_cdf" => assert_close_relative(special::normal_cdf(a[0]), value, 1e-12, &what),
            "normal_quantile" => assert_close(special::normal_quantile(a[0]), value, 1e-12, &what),
            "student_quantile" => assert_close(special::student_quantile(a[0], a[1]), value, 1e-11, &what),
            other => panic!("unknown function {other}"),
        }
    }
}

#[test]
fn summaries_agree_with_numpy() {
    for case in cases(include_str!("golden/summary.json")) {
        let values = numbers(&case["values"]);
        for (p, expected) in case["quantiles"].as_object().expect("quantiles") {
            let ours = quantile(&values, p.parse().expect("a probability")).expect("values");
            assert_close(ours, number(expected), 1e-14, p);
        }
        let summary = Summary::of(&values).expect("values");
        assert_eq!(summary.n, values.len());
        assert_close(summary.mean, number(&case["mean"]), 1e-14, "mean");
        assert_close(summary.sd, number(&case["sd"]), 1e-13, "sd");
        assert_close(summary.mad, number(&case["mad"]), 1e-14, "mad");
        let quantiles = &case["quantiles"];
        assert_close(summary.min, number(&quantiles["0.0"]), 0.0, "min");
        assert_close(summary.q1, number(&quantiles["0.25"]), 1e-14, "q1");
        assert_close(summary.median, number(&quantiles["0.5"]), 1e-14, "median");
        assert_close(summary.q3, number(&quantiles["0.75"]), 1e-14, "q3");
        assert_close(summary.max, number(&quantiles["1.0"]), 0.0, "max");
    }
}

#[test]
fn signed_ranks_agree_with_scipy_and_enumeration() {
    for case in cases(include_str!("golden/signed_rank.json")) {
        let d = numbers(&case["d"]);
        let what = format!("{} differences", d.len());
        let centre = hodges_lehmann(&d).expect("values");
        assert_close(centre, number(&case["hodges_lehmann"]), 1e-15, &what);
        assert_close_relative(signed_rank::p_value(&d), number(&case["p"]), 1e-11, &what);
        for (key, alpha) in [("interval_0.05", 0.05), ("interval_0.1", 0.1)] {
            if let Some(expected) = case.get(key) {
                assert_interval(signed_rank::interval(&d, alpha), expected, 1e-15, &what);
            }
        }
    }
}

#[test]
fn sign_flips_agree_with_enumeration() {
    for case in cases(include_str!("golden/sign_flip.json")) {
        let d = numbers(&case["d"]);
        assert_close_relative(sign_flip_p(&d, 1), number(&case["p"]), 1e-12, &format!("{d:?}"));
    }
}

#[test]
fn sequences_agree_with_integration_and_a_grid() {
    for case in cases(include_str!("golden/sequence.json")) {
        let d = numbers(&case["d"]);
        let what = format!("{} differences", d.len());
        let mut sequence = Sequence::new(0.05);
        d.iter().for_each(|v| sequence.push(*v));
        assert_interval(Some(sequence.interval()), &case["interval"], 0.0, &what);
        assert_close_relative(sequence.e_value(0.0), number(&case["e_at_0"]), 1e-11, &what);
        if case.get("e_less_at_0").is_some() {
            // The reference integrates numerically.
            assert_close_relative(sequence.e_less(0.0), number(&case["e_less_at_0"]), 1e-6, &what);
            assert_close_relative(
                sequence.e_greater(0.0),
                number(&case["e_greater_at_0"]),
                1e-6,
                &what,
            );
        }
    }
}

#[test]
fn symmetric_sequences_agree_with_a_naive_formula() {
    for case in cases(include_str!("golden/symmetric.json")) {
        let d = numbers(&case["d"]);
        let what = format!("{} differences", d.len());
        let mut sequence = SymmetricSequence::new(0.05);
        d.iter().for_each(|v| sequence.push(*v));
        assert_close_relative(sequence.e_less(0.0), number(&case["e_less_at_0"]), 1e-10, &what);
        assert_close_relative(
            sequence.e_greater(0.0),
            number(&case["e_greater_at_0"]),
            1e-10,
            &what,
        );
        if let Some(expected) = case.get("interval") {
            assert_interval(Some(sequence.interval()), expected, 1e-11, &what);
        }
    }
}

#[test]
fn selections_agree_with_all_subsets() {
    for case in cases(include_str!("golden/e_bh.json")) {
        let (e, alpha) = (numbers(&case["e"]), number(&case["alpha"]));
        let count = |flags: Vec<bool>| flags.into_iter().filter(|f| *f).count() as u64;
        assert_eq!(
            Some(count(e_bh(&e, alpha))),
            case["e_bh"].as_u64(),
            "{e:?} at {alpha}"
        );
        assert_eq!(
            Some(count(closed_e_bh(&e, alpha))),
            case["closed_e_bh"].as_u64(),
            "closed, {e:?} at {alpha}"
        );
    }
}

#[test]
fn median_intervals_agree_with_the_binomial() {
    for case in cases(include_str!("golden/median_interval.json")) {
        let (values, alpha) = (numbers(&case["values"]), number(&case["alpha"]));
        assert_interval(
            median_interval(&values, alpha),
            &case["interval"],
            0.0,
            &format!("{} at {alpha}", values.len()),
        );
    }
}

#[test]
fn ratios_agree_with_a_root_finder() {
    for case in cases(include_str!("golden/ratio.json")) {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        assert_interval(
            ratio_of_means(&x, &y, number(&case["alpha"])),
            &case["interval"],
            1e-11,
            "ratio",
        );
    }
}

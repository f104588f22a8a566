//! The few facts that everything else relies on.

use underhood_stats::{Interval, Sequence, Verdict, estimate, verdict};

/// Ten differences of one sign decide at 5 %, nine do not.
#[test]
fn ten_unanimous_blocks_decide() {
    let mut sequence = Sequence::new(0.05);
    for block in 1..=10 {
        assert_eq!(sequence.interval(), Interval::UNBOUNDED, "before block {block}");
        sequence.push(-0.3 - 0.01 * f64::from(block));
    }
    assert_eq!(
        sequence.interval(),
        Interval {
            low: -0.4,
            high: -0.31
        }
    );
    assert_eq!(verdict(&sequence.interval(), 0.01), Verdict::Faster);
}

/// Data without any noise are equivalent, never faster or slower.
#[test]
fn constant_data_are_equivalent() {
    let mut sequence = Sequence::new(0.05);
    for _ in 0..10 {
        sequence.push(0.0);
    }
    assert_eq!(sequence.interval(), Interval { low: 0.0, high: 0.0 });
    assert_eq!(verdict(&sequence.interval(), 0.01), Verdict::Equivalent);
}

/// Five trials cannot give 95 %, six can.
#[test]
fn six_trials_make_an_estimate() {
    assert_eq!(estimate(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05), None);
    let six = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05).expect("six values");
    assert_eq!((six.point, six.low, six.high, six.n), (3.5, 1.0, 6.0, 6));
}

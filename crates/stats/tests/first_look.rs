//! The few facts that everything else relies on.

use underhood_stats::{Interval, Sequence, SymmetricSequence, Verdict, estimate, verdict};

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

/// The sequence that uses sizes needs seven.
#[test]
fn seven_unanimous_blocks_decide_by_size() {
    let mut sequence = SymmetricSequence::new(0.05);
    let mut decided = None;
    for block in 1..=10 {
        sequence.push(-0.3);
        if decided.is_none() && verdict(&sequence.interval(), 0.01) == Verdict::Faster {
            decided = Some(block);
        }
    }
    assert_eq!(decided, Some(7));
    assert_eq!(
        sequence.interval(),
        Interval {
            low: -0.3,
            high: -0.3
        }
    );
    let mut constant = SymmetricSequence::new(0.05);
    (0..10).for_each(|_| constant.push(0.0));
    assert_eq!(constant.interval(), Interval { low: 0.0, high: 0.0 });
}

/// Ties at 0 with rare steps upwards are not "slower".
#[test]
fn rare_steps_are_equivalent() {
    let (mut signs, mut sizes) = (Sequence::new(0.05), SymmetricSequence::new(0.05));
    for block in 0..200 {
        let d = if block % 10 == 9 { 0.5 } else { 0.0 };
        signs.push(d);
        sizes.push(d);
        assert_ne!(
            verdict(&signs.interval(), 0.01),
            Verdict::Slower,
            "by signs, block {block}"
        );
        assert_ne!(
            verdict(&sizes.interval(), 0.01),
            Verdict::Slower,
            "by sizes, block {block}"
        );
    }
    assert_eq!(signs.interval(), Interval { low: 0.0, high: 0.0 });
    assert_eq!(sizes.interval(), Interval { low: 0.0, high: 0.0 });
}

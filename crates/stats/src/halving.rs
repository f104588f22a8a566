//! Finding a threshold among *all doubles*: exact to the last bit, in at most 64 steps, whatever the scale.
//!
//! Halving an interval of real numbers needs a tolerance, and a tolerance needs to know the unit. Doubles of
//! one sign, read as integers, have the same order as the numbers, so one can halve over the integers instead
//! and be done when two neighbours remain.

/// The first double from `low` to `high` for which `holds` is true, given that it stays true from there on.
///
/// `holds` is not asked about `high`, which is returned when nothing before it holds.
pub(crate) fn first_where(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (order_key(low), order_key(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(from_order_key(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_order_key(low)
}

/// Maps doubles to integers of the same order.
fn order_key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The inverse of [`order_key`].
fn from_order_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_like_the_numbers() {
        let ascending = [
            f64::NEG_INFINITY,
            -1e300,
            -1.0,
            -5e-324,
            -0.0,
            0.0,
            5e-324,
            0.1,
            1.0,
            f64::INFINITY,
        ];
        for pair in ascending.windows(2) {
            assert!(order_key(pair[0]) < order_key(pair[1]), "{pair:?}");
            assert_eq!(from_order_key(order_key(pair[0])).to_bits(), pair[0].to_bits());
        }
    }

    #[test]
    fn the_threshold_is_exact() {
        assert_eq!(first_where(f64::MIN, f64::MAX, |v| v >= 0.1), 0.1);
        assert_eq!(first_where(-1.0, 1.0, |v| v * v * v >= -0.125), -0.5);
        assert_eq!(first_where(-1.0, 1.0, |_| false), 1.0);
    }
}

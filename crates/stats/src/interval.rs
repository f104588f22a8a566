//! A closed range of values that the data do not contradict.

/// A closed interval, `low` to `high`.
///
/// Either end may be infinite: that is how a method says "too few data to bound this side". Whether the unit
/// is a log ratio, a ratio or nanoseconds is known only to the one who made it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end, `-∞` when there is none.
    pub low: f64,
    /// The upper end, `+∞` when there is none.
    pub high: f64,
}

impl Interval {
    /// The interval that excludes nothing.
    pub const UNBOUNDED: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// True when `value` lies inside or on an end. NaN lies nowhere.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// True when both ends are finite, so that the interval can be printed and drawn.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The distance between the ends, infinite when one end is.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// From log ratios to ratios: `-∞` becomes 0.
    #[must_use]
    pub fn exp(&self) -> Self {
        Self {
            low: self.low.exp(),
            high: self.high.exp(),
        }
    }

    /// The same statement with baseline and candidate exchanged (for log ratios).
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
        }
    }
}

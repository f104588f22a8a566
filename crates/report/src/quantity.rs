//! Figures for people: three significant digits and a unit that keeps the number short.
//!
//! Three digits, because hardly any figure here is known better than to a percent, and more digits would claim
//! that it is. An interval is written in the unit and with the decimals of its estimate, so that both can be
//! compared at a glance: `14.2 ns (14.0 … 14.5)`.

use record::model::{Figure, Metric, Unit};

/// What stands where no figure is.
const NOTHING: &str = "–";

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The estimate.
    pub value: f64,
    /// Its interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Its unit.
    pub unit: Unit,
    /// True when the true value may be smaller.
    pub upper_bound: bool,
}

impl Quantity {
    /// A figure without an interval.
    #[must_use]
    pub fn new(value: f64, unit: Unit) -> Self {
        Self {
            value,
            interval: None,
            unit,
            upper_bound: false,
        }
    }

    /// The figure of a command's metric.
    #[must_use]
    pub fn of_figure(figure: Figure, unit: Unit) -> Self {
        Self {
            value: figure.median,
            interval: figure.interval,
            unit,
            upper_bound: figure.upper_bound,
        }
    }

    /// The figure of a benchmark's metric.
    #[must_use]
    pub fn of_metric(metric: &Metric) -> Self {
        Self {
            value: metric.estimate,
            interval: metric.low.zip(metric.high),
            unit: metric.unit,
            upper_bound: false,
        }
    }

    /// The same figure without its interval.
    #[must_use]
    pub fn bare(self) -> Self {
        Self {
            interval: None,
            ..self
        }
    }

    /// The figure as text; `–` when there is none.
    #[must_use]
    pub fn text(&self) -> String {
        if self.value.is_nan() {
            return NOTHING.to_owned();
        }
        let scale = Scale::of(self.unit, self.value);
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        let decimals = scale.decimals([self.value, low, high]);
        let number = |x: f64| fixed(x / scale.divisor, decimals);
        let bound = if self.upper_bound { "≤" } else { "" };
        let value = format!("{bound}{}{}", number(self.value), scale.suffix);
        match self.interval {
            Some(_) => format!("{value} ({} … {})", number(low), number(high)),
            None => value,
        }
    }
}

/// A figure as text, without interval.
#[must_use]
pub fn text(value: f64, unit: Unit) -> String {
    Quantity::new(value, unit).text()
}

/// A whole number, every digit of it: `12,345`.
#[must_use]
pub fn whole(number: u64) -> String {
    group(&number.to_string())
}

/// The ends of an interval as text, with as many digits as a value in its midst would have.
#[must_use]
pub fn interval(value: f64, low: f64, high: f64, unit: Unit) -> String {
    let scale = Scale::of(unit, value);
    let decimals = scale.decimals([value, low, high]);
    format!(
        "{} … {}",
        fixed(low / scale.divisor, decimals),
        fixed(high / scale.divisor, decimals)
    )
}

/// A share or a relative change as a percentage: `2.5 %`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    format!("{} %", fixed(value, decimals(value, 2)))
}

/// A unit with the prefix that suits a value.
struct Scale {
    unit: Unit,
    divisor: f64,
    suffix: &'static str,
}

impl Scale {
    fn of(unit: Unit, value: f64) -> Self {
        const TIMES: &[(f64, &str)] = &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")];
        const SHORT_TIMES: &[(f64, &str)] = &[(1e6, " s"), (1e3, " ms"), (1.0, " µs")];
        const RATES: &[(f64, &str)] = &[(1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s"), (1.0, " /s")];
        const SIZES: &[(f64, &str)] = &[
            (1_099_511_627_776.0, " TiB"),
            (1_073_741_824.0, " GiB"),
            (1_048_576.0, " MiB"),
            (1024.0, " KiB"),
            (1.0, " B"),
        ];
        const COUNTS: &[(f64, &str)] = &[(1e9, " G"), (1e6, " M"), (1e4, " k"), (1.0, "")];
        const PLAIN: &[(f64, &str)] = &[(1.0, "")];
        let scales = match unit {
            Unit::Nanoseconds => TIMES,
            Unit::Microseconds => SHORT_TIMES,
            Unit::PerSecond => RATES,
            Unit::Bytes => SIZES,
            Unit::Count => COUNTS,
            Unit::Ratio => PLAIN,
        };
        // What rounds to 1000 of a unit is written as 1.00 of the next one; counts are exact.
        let rounding = if unit == Unit::Count { 1.0 } else { 1.0005 };
        let fits = scales
            .iter()
            .find(|(divisor, _)| value.abs() * rounding >= *divisor);
        let (mut divisor, suffix) = *fits.unwrap_or(&scales[scales.len() - 1]);
        if suffix == " k" {
            divisor = 1e3;
        }
        Self {
            unit,
            divisor,
            suffix,
        }
    }

    /// The decimals of a figure and its interval: none for counts and zeros, else three digits of the figure.
    ///
    /// A ratio near 1 gets three decimals, because it is read as its distance from 1.
    fn decimals(&self, values: [f64; 3]) -> usize {
        let value = values[0] / self.divisor;
        let whole = |x: &f64| !x.is_finite() || x.fract() == 0.0;
        let counted = matches!(self.suffix, "" | " B") && self.unit != Unit::Ratio;
        if (counted && values.iter().all(whole)) || values.iter().all(|x| *x == 0.0) {
            0
        } else if self.unit == Unit::Ratio && (value - 1.0).abs() < 0.1 {
            3
        } else {
            decimals(value, 3)
        }
    }
}

/// How many decimals a number has when it is rounded to so many significant digits.
fn decimals(value: f64, significant: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 1;
    }
    // The exponent after rounding: 9.996 has that of 10.0.
    let rounded = format!("{:.*e}", usize::try_from(significant - 1).unwrap_or(0), value);
    let exponent = rounded
        .rsplit('e')
        .next()
        .and_then(|text| text.parse::<i32>().ok())
        .unwrap_or(0);
    usize::try_from((significant - 1 - exponent).clamp(0, 9)).unwrap_or(0)
}

fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        NOTHING.to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞" } else { "-∞" }.to_owned()
    } else if value.abs() >= 1e9 {
        format!("{value:.2e}")
    } else if value != 0.0 && value.abs() < 1e-9 {
        "0".to_owned()
    } else {
        group(&format!("{value:.decimals$}"))
    }
}

/// Thousands are set apart: 60953 reads as 60,953.
fn group(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest
        .split_once('.')
        .map_or((rest, None), |(whole, part)| (whole, Some(part)));
    let mut text = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit_that_fits() {
        use Unit::{Bytes, Count, Microseconds, Nanoseconds, PerSecond, Ratio};
        for (value, unit, expected) in [
            (12.345, Nanoseconds, "12.3 ns"),
            (0.5, Nanoseconds, "0.500 ns"),
            (999.9, Nanoseconds, "1.00 µs"),
            (60_953e6, Nanoseconds, "61.0 s"),
            (12_345.0, Microseconds, "12.3 ms"),
            (61.0, Microseconds, "61.0 µs"),
            (1_250_000.0, PerSecond, "1.25 M/s"),
            (120_000.0, PerSecond, "120 k/s"),
            (310.0, PerSecond, "310 /s"),
            (4_300_000.0, Bytes, "4.10 MiB"),
            (0.0, Bytes, "0 B"),
            (9_999.0, Count, "9,999"),
            (12_345.0, Count, "12.3 k"),
            (1e6, Count, "1.00 M"),
            (11.52, Ratio, "11.5"),
            (0.9996, Ratio, "1.000"),
            (1.0, Ratio, "1.000"),
            (3.0, Count, "3"),
            (2.5, Count, "2.50"),
            (512.0, Bytes, "512 B"),
            (0.0, PerSecond, "0 /s"),
            (9.996, Ratio, "10.0"),
            (f64::NAN, Nanoseconds, "–"),
            (f64::INFINITY, Ratio, "∞"),
            (1e300, Nanoseconds, "1.00e291 s"),
            (-2.5, Ratio, "-2.50"),
            (1e-30, Ratio, "0"),
        ] {
            assert_eq!(text(value, unit), expected, "{value} {unit:?}");
        }
    }

    #[test]
    fn an_interval_shares_unit_and_decimals() {
        let mut quantity = Quantity {
            value: 14.2,
            interval: Some((13.96, 14.5)),
            unit: Unit::Nanoseconds,
            upper_bound: false,
        };
        assert_eq!(quantity.text(), "14.2 ns (14.0 … 14.5)");
        quantity.interval = Some((0.0, f64::INFINITY));
        assert_eq!(quantity.text(), "14.2 ns (0.0 … ∞)");
        quantity.upper_bound = true;
        assert_eq!(quantity.bare().text(), "≤14.2 ns");
        assert_eq!(interval(1500.0, 900.0, 2100.0, Unit::Microseconds), "0.90 … 2.10");
        assert_eq!(percent(0.0214), "2.1 %");
    }
}

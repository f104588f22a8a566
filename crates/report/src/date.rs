//! Instants for people, in UTC: a report must read the same wherever it is read.

use jiff::Timestamp;

/// An instant in seconds since 1970-01-01 UTC as `2023-11-14 22:13 UTC`; `unknown` when no calendar has it.
#[must_use]
pub fn utc(unix_seconds: f64) -> String {
    /// The years −9999 to 9999, roughly.
    const LIMIT: f64 = 2.5e11;
    if unix_seconds.is_nan() || unix_seconds.abs() > LIMIT {
        return "unknown".to_owned();
    }
    let instant = Timestamp::from_second(unix_seconds.floor() as i64);
    instant.map_or_else(
        |_| "unknown".to_owned(),
        |instant| instant.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(utc(0.0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(1_700_000_000.5), "2023-11-14 22:13 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00 UTC");
        assert_eq!(utc(-1.0), "1969-12-31 23:59 UTC");
        for odd in [f64::NAN, f64::INFINITY, 1e300, -1e300] {
            assert_eq!(utc(odd), "unknown");
        }
    }
}

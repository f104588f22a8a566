//! A comparison in plain words, for `time` and `tune` alike.
//!
//! Factors are told so that they exceed 1 ("1.25 × faster" rather than "0.8 of the time"), with the confidence
//! sequence turned the same way.

use record::model::{CommandMetric, Comparison, NoiseFloor, Unit, Verdict};

use crate::quantity::{self, Quantity};

/// The unit of a command's metric.
#[must_use]
pub fn unit(metric: CommandMetric) -> Unit {
    match metric {
        CommandMetric::ToExit
        | CommandMetric::ToEntry
        | CommandMetric::ToMain
        | CommandMetric::Running
        | CommandMetric::Cpu
        | CommandMetric::User
        | CommandMetric::System => Unit::Microseconds,
        CommandMetric::PeakRss | CommandMetric::PrivateDirty => Unit::Bytes,
        _ => Unit::Count,
    }
}

/// A command's metric in words.
#[must_use]
pub fn words(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::ToExit => "time",
        CommandMetric::ToEntry => "time to its entry",
        CommandMetric::ToMain => "time to main",
        CommandMetric::Running => "time without waiting for a CPU",
        CommandMetric::Cpu => "CPU time",
        CommandMetric::User => "user time",
        CommandMetric::System => "system time",
        CommandMetric::PeakRss => "peak memory",
        CommandMetric::PrivateDirty => "private memory",
        CommandMetric::MinorFaults => "minor faults",
        CommandMetric::MajorFaults => "major faults",
        CommandMetric::ContextSwitches => "context switches",
        CommandMetric::Voluntary => "voluntary switches",
        CommandMetric::Involuntary => "involuntary switches",
    }
}

/// The ratio with its confidence sequence.
#[must_use]
pub fn ratio(comparison: &Comparison) -> Quantity {
    Quantity {
        value: comparison.ratio,
        interval: Some((comparison.low, comparison.high)),
        unit: Unit::Ratio,
        upper_bound: false,
    }
}

/// The whole verdict: `./b is 1.23 × faster than ./a (95 % confidence sequence 1.20 … 1.27; 24 blocks).`
#[must_use]
pub fn sentence(comparison: &Comparison, candidate: &str, baseline: &str) -> String {
    let Comparison {
        ratio,
        low,
        high,
        blocks,
        metric,
        ..
    } = comparison;
    let evidence = |value: f64, low: f64, high: f64| {
        format!(
            "95 % confidence sequence {}; {blocks} {}",
            quantity::interval(value, low, high, Unit::Ratio),
            if *blocks == 1 { "block" } else { "blocks" }
        )
    };
    let told =
        |value: f64, low: f64, high: f64| (quantity::text(value, Unit::Ratio), evidence(value, low, high));
    match comparison.verdict {
        Verdict::Faster => {
            let (factor, evidence) = told(1.0 / ratio, 1.0 / high, 1.0 / low);
            format!(
                "{candidate} {} than {baseline} ({evidence}).",
                effect(*metric, &factor, true)
            )
        }
        Verdict::Slower => {
            let (factor, evidence) = told(*ratio, *low, *high);
            format!(
                "{candidate} {} than {baseline} ({evidence}).",
                effect(*metric, &factor, false)
            )
        }
        Verdict::Equivalent => {
            let (factor, evidence) = told(*ratio, *low, *high);
            format!(
                "{candidate} and {baseline} are equivalent in {}: the ratio is {factor} ({evidence}).",
                words(*metric)
            )
        }
        Verdict::Undecided => {
            let (factor, evidence) = told(*ratio, *low, *high);
            let seen = match comparison.smallest_detectable {
                Some(effect) if effect.is_finite() => {
                    format!(
                        "an effect of {} or more would have been seen",
                        quantity::percent(effect)
                    )
                }
                _ => "too few blocks to see any effect".to_owned(),
            };
            format!(
                "Undecided: {candidate} against {baseline} has a {} ratio of {factor} ({evidence}); {seen}.",
                words(*metric)
            )
        }
    }
}

/// Less or more of a metric, as a verb and a comparative.
fn effect(metric: CommandMetric, factor: &str, less: bool) -> String {
    match metric {
        CommandMetric::ToExit if less => format!("is {factor} × faster"),
        CommandMetric::ToExit => format!("is {factor} × slower"),
        CommandMetric::ToEntry | CommandMetric::ToMain if less => format!("starts {factor} × faster"),
        CommandMetric::ToEntry | CommandMetric::ToMain => format!("starts {factor} × slower"),
        CommandMetric::Running
        | CommandMetric::Cpu
        | CommandMetric::User
        | CommandMetric::System
        | CommandMetric::PeakRss
        | CommandMetric::PrivateDirty => {
            format!(
                "takes {factor} × {} {}",
                if less { "less" } else { "more" },
                words(metric)
            )
        }
        _ => format!(
            "has {factor} × {} {}",
            if less { "fewer" } else { "more" },
            words(metric)
        ),
    }
}

/// What the noise alone did.
#[must_use]
pub fn noise(floor: &NoiseFloor, name: &str) -> String {
    let NoiseFloor { ratio, low, high } = *floor;
    let figures = format!(
        "{} ({})",
        quantity::text(ratio, Unit::Ratio),
        quantity::interval(ratio, low, high, Unit::Ratio)
    );
    let text = format!("Noise floor: {name} against itself, in the same blocks, has a ratio of {figures}.");
    if low > 1.0 || high < 1.0 {
        text + " It should contain 1: something disturbs this machine in step with the blocks; distrust small effects."
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(metric: CommandMetric, ratio: f64, verdict: Verdict) -> Comparison {
        Comparison {
            metric,
            arm: 1,
            ratio,
            low: ratio * 0.975,
            high: ratio * 1.025,
            verdict,
            blocks: 24,
            smallest_detectable: Some(0.023),
            sign_flip_p: None,
            fixed_n: None,
        }
    }

    #[test]
    fn the_four_verdicts() {
        let say = |metric, ratio, verdict| sentence(&comparison(metric, ratio, verdict), "b", "a");
        assert_eq!(
            say(CommandMetric::ToExit, 0.8, Verdict::Faster),
            "b is 1.25 × faster than a (95 % confidence sequence 1.22 … 1.28; 24 blocks)."
        );
        assert_eq!(
            say(CommandMetric::PeakRss, 2.0, Verdict::Slower),
            "b takes 2.00 × more peak memory than a (95 % confidence sequence 1.95 … 2.05; 24 blocks)."
        );
        assert_eq!(
            say(CommandMetric::MinorFaults, 0.5, Verdict::Faster),
            "b has 2.00 × fewer minor faults than a (95 % confidence sequence 1.95 … 2.05; 24 blocks)."
        );
        assert_eq!(
            say(CommandMetric::Cpu, 1.001, Verdict::Equivalent),
            "b and a are equivalent in CPU time: the ratio is 1.001 (95 % confidence sequence 0.976 … 1.026; 24 blocks)."
        );
        assert_eq!(
            say(CommandMetric::ToExit, 1.01, Verdict::Undecided),
            "Undecided: b against a has a time ratio of 1.010 (95 % confidence sequence 0.985 … 1.035; 24 blocks); an \
             effect of 2.3 % or more would have been seen."
        );
        let early = Comparison {
            low: 0.0,
            high: f64::INFINITY,
            smallest_detectable: None,
            blocks: 1,
            ..comparison(CommandMetric::ToExit, 1.01, Verdict::Undecided)
        };
        assert_eq!(
            sentence(&early, "b", "a"),
            "Undecided: b against a has a time ratio of 1.010 (95 % confidence sequence 0.000 … ∞; 1 block); too few \
             blocks to see any effect."
        );
    }

    #[test]
    fn a_noise_floor_without_one_is_alarming() {
        let calm = noise(
            &NoiseFloor {
                ratio: 1.001,
                low: 0.99,
                high: 1.01,
            },
            "a",
        );
        assert_eq!(
            calm,
            "Noise floor: a against itself, in the same blocks, has a ratio of 1.001 (0.990 … 1.010)."
        );
        assert!(
            noise(
                &NoiseFloor {
                    ratio: 1.05,
                    low: 1.02,
                    high: 1.08
                },
                "a"
            )
            .contains("distrust small effects")
        );
    }
}

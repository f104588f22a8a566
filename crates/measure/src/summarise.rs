//! From trials to metrics: one value a trial, the Hodges-Lehmann estimate over trials, and its interval.
//!
//! The unit of inference is the trial, a fresh process; samples within a trial share its luck and are no
//! independent evidence. Six trials are the fewest that can give a distribution-free 95 % interval; with fewer the
//! estimate stands alone.

use record::model::{Case, Measurement, Metric, Trial, Unit};

use crate::benchmark::MetricInfo;

/// The error rate of intervals over trials.
pub const ALPHA: f64 = 0.05;

/// The metrics that the kernel counts for every benchmark, the primary one first.
pub const KERNEL_METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "ns_per_op",
        unit: Unit::Nanoseconds,
    },
    MetricInfo {
        name: "ops_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "cpu_ns_per_op",
        unit: Unit::Nanoseconds,
    },
    MetricInfo {
        name: "context_switches_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "voluntary_switches_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "involuntary_switches_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "system_switches_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "runqueue_wait_ratio",
        unit: Unit::Ratio,
    },
    MetricInfo {
        name: "minor_faults_per_s",
        unit: Unit::PerSecond,
    },
    MetricInfo {
        name: "major_faults",
        unit: Unit::Count,
    },
    MetricInfo {
        name: "peak_rss_bytes",
        unit: Unit::Bytes,
    },
    MetricInfo {
        name: "empty_loop_ns",
        unit: Unit::Nanoseconds,
    },
];

/// The measurement of a case from its trials; `own` are the benchmark's own metrics. `None` without any trial.
#[must_use]
pub fn measurement(case: Case, trials: Vec<Trial>, own: &[MetricInfo]) -> Option<Measurement> {
    if trials.is_empty() {
        return None;
    }
    let metrics = KERNEL_METRICS
        .iter()
        .chain(own)
        .filter_map(|info| metric(info, &trials))
        .collect();
    Some(Measurement {
        case,
        metrics,
        trials,
    })
}

fn metric(info: &MetricInfo, trials: &[Trial]) -> Option<Metric> {
    let value_of = |trial: &Trial| {
        trial
            .values
            .iter()
            .find(|(name, _)| name == info.name)
            .map(|(_, value)| *value)
    };
    let values: Vec<f64> = trials
        .iter()
        .filter_map(value_of)
        .filter(|value| value.is_finite())
        .collect();
    let estimate = stats::hodges_lehmann::hodges_lehmann(&values)?;
    let interval = stats::signed_rank::interval(&values, ALPHA);
    Some(Metric {
        name: info.name.to_owned(),
        unit: info.unit,
        estimate,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        trials: values.len(),
        predicted: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(values: &[f64]) -> Vec<Trial> {
        let trial = |(position, &value): (usize, &f64)| Trial {
            position: position as u32,
            seed: 0,
            samples: vec![value],
            values: vec![("ns_per_op".to_owned(), value)],
            course: Vec::new(),
            contaminated: None,
        };
        values.iter().enumerate().map(trial).collect()
    }

    fn case() -> Case {
        "heap/fake/@system".parse().unwrap()
    }

    #[test]
    fn six_trials_give_an_interval_and_five_do_not() {
        let six = measurement(case(), trials(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]), &[]).unwrap();
        let metric = six.metric("ns_per_op").unwrap();
        assert_eq!((metric.estimate, metric.min, metric.trials), (12.5, 10.0, 6));
        assert_eq!((metric.low, metric.high), (Some(10.0), Some(15.0)));
        let five = measurement(case(), trials(&[10.0, 11.0, 12.0, 13.0, 14.0]), &[]).unwrap();
        assert_eq!(five.metric("ns_per_op").unwrap().low, None);
    }

    #[test]
    fn no_trial_is_no_measurement_and_an_absent_metric_no_row() {
        assert_eq!(measurement(case(), Vec::new(), &[]), None);
        let one = measurement(case(), trials(&[1.0]), &[]).unwrap();
        assert_eq!(one.metrics.len(), 1);
    }
}

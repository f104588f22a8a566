//! One figure for many runs of a command.
//!
//! Times of commands are skewed: a floor that the work sets, and a tail that the rest of the machine adds. So the
//! figure is the median and its interval comes from order statistics, which hold for every distribution, also for
//! counts that tie (page faults, sizes). Nothing is dropped, whatever its size.

use stats::median_interval::median_interval;
use stats::summary::median;

use super::command::{Metric, Session};

/// Below this much processor time, in microseconds, the kernel's split into user and system time is noise:
/// it is made by clock ticks of 1 to 10 ms.
const SPLIT_NEEDS_CPU_US: f64 = 100_000.0;

/// The level of the intervals is 1 − this.
const ALPHA: f64 = 0.05;

/// The median of a set of runs with its distribution-free 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The median, in the metric's unit.
    pub median: f64,
    /// The interval; from six runs on.
    pub interval: Option<(f64, f64)>,
    /// The smallest run.
    pub min: f64,
    /// The number of runs.
    pub n: usize,
    /// True when the figure is only an upper bound (a peak RSS hidden by the launcher's own).
    pub upper_bound: bool,
}

impl Figure {
    /// The figure of some values; none when there is no value or one is not a number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let interval = median_interval(values, ALPHA).map(|interval| (interval.low, interval.high));
        Some(Self {
            median: median(values)?,
            interval,
            min,
            n: values.len(),
            upper_bound: false,
        })
    }
}

impl Session {
    /// The values of one metric of one arm in the order of execution, over all stages.
    #[must_use]
    pub fn values(&self, arm: usize, metric: Metric) -> Vec<f64> {
        let entries = self.blocks.iter().flat_map(|block| &block.entries);
        entries
            .filter(|entry| entry.arm == arm)
            .filter_map(|entry| entry.value(metric))
            .collect()
    }

    /// How many runs of one arm did not end with exit status 0.
    #[must_use]
    pub fn failures(&self, arm: usize) -> usize {
        let entries = self.blocks.iter().flat_map(|block| &block.entries);
        entries
            .filter(|entry| entry.arm == arm && !entry.end.success())
            .count()
    }

    /// The figure of one metric of one arm.
    ///
    /// None when it was never counted, and for [`Metric::User`] and [`Metric::System`] also when the command's
    /// processor time is under 100 ms: the kernel's split means nothing then, only [`Metric::Cpu`] does.
    #[must_use]
    pub fn figure(&self, arm: usize, metric: Metric) -> Option<Figure> {
        let mut figure = Figure::of(&self.values(arm, metric))?;
        if matches!(metric, Metric::User | Metric::System) {
            Figure::of(&self.values(arm, Metric::Cpu)).filter(|cpu| cpu.median >= SPLIT_NEEDS_CPU_US)?;
        }
        let mut entries = self.blocks.iter().flat_map(|block| &block.entries);
        figure.upper_bound = metric == Metric::PeakRss
            && entries.any(|entry| entry.arm == arm && entry.peak_rss_is_upper_bound);
        Some(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::{Block, End, Entry};
    use super::*;

    fn session(cpu_us: f64) -> Session {
        let entry = |position, value| Entry {
            arm: position,
            position,
            end: End::Exited(0),
            values: vec![
                (Metric::ToExit, value),
                (Metric::Cpu, cpu_us),
                (Metric::User, cpu_us),
            ],
            peak_rss_is_upper_bound: false,
            strays: 0,
        };
        let block = |index| Block {
            index,
            seed: 1,
            stage: "measure".into(),
            entries: vec![entry(0, f64::from(index)), entry(1, 7.0)],
        };
        Session {
            arms: Vec::new(),
            blocks: (0..6).map(block).collect(),
        }
    }

    #[test]
    fn the_median_and_the_extremes_of_six() {
        let figure = session(1.0).figure(0, Metric::ToExit).unwrap();
        assert_eq!(
            (figure.median, figure.interval, figure.min, figure.n),
            (2.5, Some((0.0, 5.0)), 0.0, 6)
        );
        assert_eq!(session(1.0).figure(1, Metric::ToExit).unwrap().median, 7.0);
        assert_eq!(session(1.0).figure(0, Metric::PeakRss), None);
    }

    #[test]
    fn user_time_is_told_only_when_there_is_enough_of_it() {
        assert_eq!(session(99_999.0).figure(0, Metric::User), None);
        assert_eq!(
            session(100_000.0).figure(0, Metric::User).unwrap().median,
            100_000.0
        );
    }

    #[test]
    fn five_runs_have_no_interval() {
        let figure = Figure::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((figure.median, figure.interval), (3.0, None));
        assert_eq!(Figure::of(&[]), None);
        assert_eq!(Figure::of(&[f64::NAN]), None);
    }
}

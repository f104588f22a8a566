//! Measurements that may be compared: the same benchmark, the same parameters, different subjects.

use record::model::{Measurement, Metric, Run, Unit};

use crate::quantity::Quantity;

/// All measurements of one benchmark.
pub(super) struct Benchmark<'a> {
    /// `suite/benchmark`.
    pub(super) name: String,
    /// In the order of the run.
    pub(super) groups: Vec<Group<'a>>,
    /// The parameters that take more than one value.
    pub(super) varying: Vec<&'a str>,
    /// The parameters that take one value, with it.
    pub(super) fixed: Vec<(&'a str, &'a str)>,
}

/// The subjects at one point of the sweep, the best first.
pub(super) struct Group<'a> {
    pub(super) parameters: &'a [(String, String)],
    pub(super) rows: Vec<&'a Measurement>,
    /// What the others are compared with: `system`, or the first subject of the run.
    pub(super) baseline: Option<&'a Measurement>,
}

/// The benchmarks of a run in its order.
pub(super) fn of(run: &Run) -> Vec<Benchmark<'_>> {
    let mut list: Vec<Benchmark<'_>> = Vec::new();
    for measurement in &run.measurements {
        let name = measurement.case.full_benchmark();
        let index = list.iter().position(|b| b.name == name).unwrap_or_else(|| {
            list.push(Benchmark {
                name,
                groups: Vec::new(),
                varying: Vec::new(),
                fixed: Vec::new(),
            });
            list.len() - 1
        });
        let groups = &mut list[index].groups;
        let parameters = measurement.case.parameters.as_slice();
        match groups.iter_mut().find(|group| group.parameters == parameters) {
            Some(group) => group.rows.push(measurement),
            None => groups.push(Group {
                parameters,
                rows: vec![measurement],
                baseline: None,
            }),
        }
    }
    list.iter_mut().for_each(Benchmark::arrange);
    list
}

impl<'a> Benchmark<'a> {
    fn arrange(&mut self) {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, value) in self.groups.iter().flat_map(|group| group.parameters) {
            match values.iter_mut().find(|(known, _)| known == name) {
                Some((_, list)) if list.contains(&value.as_str()) => {}
                Some((_, list)) => list.push(value),
                None => values.push((name, vec![value])),
            }
        }
        for (name, list) in values {
            match list.as_slice() {
                [one] => self.fixed.push((name, one)),
                _ => self.varying.push(name),
            }
        }
        for group in &mut self.groups {
            let system = group.rows.iter().find(|m| m.case.subject == "system");
            group.baseline = system.or(group.rows.first()).copied();
            group.rows.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
        }
    }

    /// The name of what all groups are compared with, when it is the same everywhere.
    pub(super) fn baseline(&self) -> Option<&'a str> {
        let mut names = self
            .groups
            .iter()
            .filter_map(|group| group.baseline)
            .map(|m| m.case.subject.as_str());
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }
}

impl Group<'_> {
    /// The value of one parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The primary metric.
pub(super) fn primary(measurement: &Measurement) -> Option<&Metric> {
    measurement.metrics.first()
}

/// Sorts the best first: less is better, but for rates.
fn badness(measurement: &Measurement) -> f64 {
    match primary(measurement) {
        Some(metric) if metric.unit == Unit::PerSecond => -metric.estimate,
        Some(metric) => metric.estimate,
        None => f64::NAN,
    }
}

/// How many times worse `a` is than `b` in the primary metric, with the interval that the ends of both allow.
///
/// Each end of the ratio is wrong only if one of the two intervals is, so it holds in at least 90 of 100 cases and,
/// as both errors would have to go the wrong way, in nearly all. None when it cannot be told.
pub(super) fn times_worse(a: &Measurement, b: &Measurement) -> Option<Quantity> {
    let (x, y) = (primary(a)?, primary(b)?);
    let (x, y) = if x.unit == Unit::PerSecond { (y, x) } else { (x, y) };
    ratio(x, y)
}

fn ratio(x: &Metric, y: &Metric) -> Option<Quantity> {
    let value = x.estimate / y.estimate;
    let interval = match (x.low, x.high, y.low, y.high) {
        (Some(x_low), Some(x_high), Some(y_low), Some(y_high)) if x_low > 0.0 && y_low > 0.0 => {
            Some((x_low / y_high, x_high / y_low))
        }
        _ => None,
    };
    (value.is_finite() && value > 0.0).then_some(Quantity {
        value,
        interval,
        unit: Unit::Ratio,
        upper_bound: false,
    })
}

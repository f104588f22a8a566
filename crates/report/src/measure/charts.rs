//! The pictures of a benchmark.
//!
//! Two kinds. Context switches over time, before and after: the first article's two figures, the disease beside
//! its cure on one scale. And a curve for every numeric parameter that was swept: one line a subject.

use record::model::{Measurement, Unit};

use super::findings::{place, widest};
use super::groups::{Benchmark, primary};
use super::table::label;
use crate::document::{Axis, Chart, Series};

/// From this ratio of largest to smallest on, an axis is logarithmic.
const WIDE: f64 = 30.0;

/// Fewer points make no curve.
const POINTS: usize = 3;

/// All pictures of a benchmark.
pub(super) fn of(benchmark: &Benchmark<'_>) -> Vec<Chart> {
    let curves = benchmark
        .varying
        .iter()
        .filter_map(|parameter| curve(benchmark, parameter));
    switches(benchmark).into_iter().chain(curves).collect()
}

/// Context switches of the process over time: the subject that makes most of them, and the fastest one.
fn switches(benchmark: &Benchmark<'_>) -> Option<Chart> {
    let (group, best, _) = widest(benchmark)?;
    let rate = |m: &Measurement| {
        m.metric("context_switches_per_s")
            .map_or(0.0, |metric| metric.estimate)
    };
    let before = *group.rows.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    if std::ptr::eq(before, best) || rate(before) < 2.0 * rate(best) {
        return None;
    }
    let series = [("before", before), ("after", best)].map(|(word, m)| {
        Some(Series {
            name: format!("{word}: {}", m.case.subject),
            points: course(m)?,
        })
    });
    let [Some(before), Some(after)] = series else {
        return None;
    };
    Some(Chart {
        title: format!(
            "Context switches of the process over time, before and after; {}",
            place(benchmark, group)
        ),
        x: Axis {
            name: "time".into(),
            unit: Unit::Nanoseconds,
            logarithmic: false,
        },
        y: Axis {
            name: "context switches".into(),
            unit: Unit::PerSecond,
            logarithmic: false,
        },
        series: vec![before, after],
    })
}

/// The switches of the first trial that was watched, an undisturbed one if there is one.
fn course(m: &Measurement) -> Option<Vec<(f64, f64)>> {
    let watched = || m.trials.iter().filter(|trial| trial.course.len() >= POINTS);
    let trial = watched()
        .find(|trial| trial.contaminated.is_none())
        .or_else(|| watched().next())?;
    // A rate is over the time since the previous point, so the first point, at 0, has none.
    let points = trial.course.iter().filter(|p| p.at_ns > 0.0);
    Some(
        points
            .map(|p| (p.at_ns, p.voluntary_per_s + p.involuntary_per_s))
            .collect(),
    )
}

/// The primary metric against one parameter, the others as in the first case of the run.
fn curve(benchmark: &Benchmark<'_>, parameter: &str) -> Option<Chart> {
    let first = benchmark.groups.first()?;
    let others = benchmark.varying.iter().filter(|name| **name != parameter);
    let others: Vec<(&str, Option<&str>)> = others.map(|name| (*name, first.parameter(name))).collect();
    let mut series: Vec<Series> = Vec::new();
    for group in benchmark
        .groups
        .iter()
        .filter(|g| others.iter().all(|(name, value)| g.parameter(name) == *value))
    {
        let x: f64 = group.parameter(parameter)?.parse().ok()?;
        for m in &group.rows {
            let y = primary(m)?.estimate;
            match series.iter_mut().find(|line| line.name == m.case.subject) {
                Some(line) => line.points.push((x, y)),
                None => series.push(Series {
                    name: m.case.subject.clone(),
                    points: vec![(x, y)],
                }),
            }
        }
    }
    series
        .iter_mut()
        .for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    if series.iter().map(|line| line.points.len()).max()? < POINTS {
        return None;
    }
    series.sort_by(|a, b| a.name.cmp(&b.name));
    let metric = benchmark
        .groups
        .iter()
        .flat_map(|g| &g.rows)
        .find_map(|m| primary(m))?;
    let with = others
        .iter()
        .map(|(name, value)| format!(", {name}={}", value.unwrap_or_default()))
        .collect::<String>();
    let all = || series.iter().flat_map(|line| &line.points);
    Some(Chart {
        title: format!(
            "{} against {parameter}; {}{with}",
            capital(label(&metric.name)),
            benchmark.name
        ),
        x: Axis {
            name: parameter.to_owned(),
            unit: Unit::Count,
            logarithmic: wide(all().map(|p| p.0), 15.0),
        },
        y: Axis {
            name: label(&metric.name).to_owned(),
            unit: metric.unit,
            logarithmic: wide(all().map(|p| p.1), WIDE),
        },
        series,
    })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Whether positive values span so much that only a logarithmic axis shows them all.
fn wide(values: impl Iterator<Item = f64>, ratio: f64) -> bool {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    low > 0.0 && low.is_finite() && high / low >= ratio
}

//! What the figures say, in plain words and from the figures alone.
//!
//! A sentence claims a difference only where the intervals allow it; where they overlap it says so. Every claim
//! carries the figures behind it.

use record::model::{Measurement, Run, Unit};

use super::groups::{self, Benchmark, Group, primary, times_worse};
use crate::document::Tone;
use crate::quantity::{self, Quantity};

/// The first article's alarm: so many context switches a second in the whole system mean that threads fight.
const ALARM_PER_S: f64 = 80_000.0;

/// From here on a ratio is called a cost and not a nuance.
const COSTLY: f64 = 1.5;

/// More benchmarks than this are many.
pub(super) const FEW: usize = 2;

/// The findings of a run, one plain sentence or two each.
#[must_use]
pub fn findings(run: &Run) -> Vec<String> {
    all(&groups::of(run)).into_iter().map(|(_, text)| text).collect()
}

/// The findings with how they are meant. Benchmarks in which nothing is shown to beat the baseline share a sentence
/// when there are many.
pub(super) fn all(benchmarks: &[Benchmark<'_>]) -> Vec<(Tone, String)> {
    let mut list = Vec::new();
    let mut quiet: Vec<&str> = Vec::new();
    for benchmark in benchmarks {
        list.extend(contrast(benchmark));
        match gain(benchmark) {
            Some((Tone::Plain, _)) if benchmarks.len() > FEW => quiet.push(&benchmark.name),
            finding => list.extend(finding),
        }
        list.extend(scaling(benchmark));
    }
    if !quiet.is_empty() {
        list.push((
            Tone::Plain,
            format!("Nothing is shown to beat the baseline in {}.", quiet.join(", ")),
        ));
    }
    list
}

/// The point of the sweep where the subjects differ most, with its best and its worst.
pub(super) fn widest<'a, 'b>(
    benchmark: &'b Benchmark<'a>,
) -> Option<(&'b Group<'a>, &'a Measurement, &'a Measurement)> {
    let spans = benchmark.groups.iter().filter_map(|group| {
        let (best, worst) = (*group.rows.first()?, *group.rows.last()?);
        Some((times_worse(worst, best)?.value, group, best, worst))
    });
    let widest = spans.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((widest.1, widest.2, widest.3))
}

/// The worst against the best, and whatever else is costly.
fn contrast(benchmark: &Benchmark<'_>) -> Option<(Tone, String)> {
    let (group, best, worst) = widest(benchmark)?;
    let place = place(benchmark, group);
    if group.rows.len() == 1 {
        let figure = per_operation(best)?;
        return Some((
            Tone::Plain,
            format!("{place}: {} takes {figure}.", best.case.subject),
        ));
    }
    let costly = |m: &Measurement| {
        let times = times_worse(m, best)?;
        let proved = times.interval.is_none_or(|(low, _)| low > 1.0);
        (proved && times.value >= COSTLY).then_some(times)
    };
    let mut text = format!(
        "{place}: {} costs {} the best here, {}: {} against {}.",
        described(&worst.case.subject),
        factor(&costly(worst)?),
        best.case.subject,
        per_operation(worst)?,
        per_operation(best)?,
    );
    let others = group
        .rows
        .iter()
        .rev()
        .skip(1)
        .filter_map(|m| Some((&m.case.subject, costly(m)?.bare().text())));
    let others: Vec<String> = others
        .map(|(subject, times)| format!("{subject} {times} ×"))
        .collect();
    if !others.is_empty() {
        text.push_str(&format!(" Also costly: {}.", others.join(", ")));
    }
    if let Some(switches) = switches(worst, best) {
        text.push(' ');
        text.push_str(&switches);
    }
    Some((Tone::Bad, text))
}

/// The primary metric in words: `14.2 ns an operation`.
fn per_operation(m: &Measurement) -> Option<String> {
    let metric = primary(m)?;
    let text = Quantity::of_metric(metric).bare().text();
    Some(match metric.unit {
        Unit::Nanoseconds | Unit::Microseconds => format!("{text} an operation"),
        Unit::PerSecond | Unit::Bytes | Unit::Count | Unit::Ratio => text,
    })
}

/// What the worst does to the scheduler.
fn switches(worst: &Measurement, best: &Measurement) -> Option<String> {
    let per_s = |m: &Measurement, name: &str| m.metric(name).map(|metric| metric.estimate);
    let own = |m: &Measurement| per_s(m, "context_switches_per_s");
    let rate = |x: f64| quantity::text(x, Unit::PerSecond);
    let (much, little) = (own(worst)?, own(best)?);
    if much < 1000.0 || much < 5.0 * little {
        return None;
    }
    let mut text = format!(
        "{} makes {} context switches, {} makes {}.",
        worst.case.subject,
        rate(much),
        best.case.subject,
        rate(little)
    );
    if let Some(system) = per_s(worst, "system_switches_per_s").filter(|x| *x >= ALARM_PER_S) {
        text.push_str(&format!(
            " The whole system makes {} then: more than {} means that threads fight for a lock.",
            rate(system),
            rate(ALARM_PER_S)
        ));
    }
    Some(text)
}

/// Whether anything beats what one has without doing anything.
fn gain(benchmark: &Benchmark<'_>) -> Option<(Tone, String)> {
    let (group, best, _) = widest(benchmark)?;
    let baseline = group.baseline?;
    if group.rows.len() == 1 {
        return None;
    }
    let name = &baseline.case.subject;
    let place = place(benchmark, group);
    if std::ptr::eq(best, baseline) {
        let second = group.rows.get(1)?;
        let times = times_worse(second, baseline)?;
        let text = match times.interval {
            Some((low, _)) if low > 1.0 => {
                format!(
                    "{place}: nothing here is faster than {name}; {} costs {}.",
                    second.case.subject,
                    factor(&times)
                )
            }
            _ => format!(
                "{place}: nothing here is shown to be faster than {name}; {} measured {} and the intervals overlap.",
                second.case.subject,
                factor(&times)
            ),
        };
        return Some((Tone::Plain, text));
    }
    let times = times_worse(baseline, best)?;
    Some(match times.interval {
        Some((low, _)) if low > 1.0 => (
            Tone::Good,
            format!(
                "{place}: {} is {} faster than {name}.",
                best.case.subject,
                factor(&times)
            ),
        ),
        Some(_) => (
            Tone::Plain,
            format!(
                "{place}: {} measured {} faster than {name}, but the intervals overlap: no difference is shown.",
                best.case.subject,
                factor(&times)
            ),
        ),
        None => (
            Tone::Plain,
            format!(
                "{place}: {} measured {} faster than {name}; too few trials to be sure.",
                best.case.subject,
                factor(&times)
            ),
        ),
    })
}

/// What more threads bring, for the best and the worst subject.
fn scaling(benchmark: &Benchmark<'_>) -> Option<(Tone, String)> {
    if benchmark.varying != ["threads"] {
        return None;
    }
    let threads = |group: &Group<'_>| {
        group
            .parameter("threads")
            .and_then(|text| text.parse::<f64>().ok())
    };
    let few = benchmark.groups.iter().min_by(|a, b| {
        threads(a)
            .unwrap_or(f64::NAN)
            .total_cmp(&threads(b).unwrap_or(f64::NAN))
    })?;
    let many = benchmark
        .groups
        .iter()
        .max_by(|a, b| threads(a).unwrap_or(0.0).total_cmp(&threads(b).unwrap_or(0.0)))?;
    let rate = |group: &Group<'_>, subject: &str| {
        let m = group.rows.iter().find(|m| m.case.subject == subject)?;
        m.metric("ops_per_s").map(|metric| metric.estimate)
    };
    let gains = many.rows.iter().filter_map(|m| {
        let gain = rate(many, &m.case.subject)? / rate(few, &m.case.subject)?;
        (gain.is_finite() && gain > 0.0).then_some((gain, m.case.subject.as_str()))
    });
    let gains: Vec<(f64, &str)> = gains.collect();
    let best = gains.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let worst = gains.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (from, to) = (threads(few)?, threads(many)?);
    if from == to {
        return None;
    }
    let times = |gain: f64| quantity::text(gain, Unit::Ratio);
    let mut text = format!(
        "{}: with {to} threads instead of {from}, {} does {} × the work a second",
        benchmark.name,
        best.1,
        times(best.0)
    );
    if best.1 != worst.1 {
        text.push_str(&format!(", {} {} ×", worst.1, times(worst.0)));
    }
    Some((Tone::Plain, text + "."))
}

/// Where in the sweep: `heap/heaptest at 2 threads`.
pub(super) fn place(benchmark: &Benchmark<'_>, group: &Group<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(threads) = group.parameter("threads") {
        parts.push(if threads == "1" {
            "1 thread".to_owned()
        } else {
            format!("{threads} threads")
        });
    }
    for name in benchmark.varying.iter().filter(|name| **name != "threads") {
        parts.push(format!("{name}={}", group.parameter(name).unwrap_or_default()));
    }
    if parts.is_empty() {
        benchmark.name.clone()
    } else {
        format!("{} at {}", benchmark.name, parts.join(", "))
    }
}

/// `11.3 × (10.9 … 11.8)`, or without the interval where there is none.
fn factor(times: &Quantity) -> String {
    let bare = times.bare().text();
    match times.interval {
        Some((low, high)) => format!(
            "{bare} × ({})",
            quantity::interval(times.value, low, high, times.unit)
        ),
        None => format!("{bare} ×"),
    }
}

/// A subject in words where its name alone says little.
fn described(subject: &str) -> String {
    let words = match subject {
        "single_lock" => "a heap behind one lock",
        "single_lock_spin" => "a heap behind one lock that spins first",
        "single_lock_kernel" => "a heap behind one kernel object",
        _ => return subject.to_owned(),
    };
    format!("{words} ({subject})")
}

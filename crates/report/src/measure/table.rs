//! The table of one benchmark: a row for each case, the best first at each point of the sweep.

use record::model::Measurement;

use super::groups::{Benchmark, Group, times_worse};
use crate::document::{Cell, Column, Row, Table, Tone};
use crate::quantity::Quantity;

/// Metrics with the head of their column and how readily the column is left out (see [`Column::rank`]).
const KNOWN: &[(&str, &str, u8)] = &[
    ("ops_per_s", "operations", 6),
    ("blow_up", "blow-up", 2),
    ("voluntary_switches_per_s", "voluntary switches", 1),
    ("involuntary_switches_per_s", "involuntary switches", 4),
    ("runqueue_wait_ratio", "CPU wait", 5),
    ("system_switches_per_s", "system switches", 3),
    ("minor_faults_per_s", "faults", 7),
    ("peak_rss_bytes", "peak RSS", 8),
    ("cpu_ns_per_op", "CPU time", 9),
];

/// Metrics that are shown on request only: sums of shown ones, and what helps to judge the method.
const DETAILS: &[&str] = &["context_switches_per_s", "major_faults", "empty_loop_ns"];

/// The rank of a metric that this file does not know.
const OTHER: u8 = 5;

/// The table of a benchmark.
pub(super) fn of(benchmark: &Benchmark<'_>, details: bool) -> Table {
    let metrics = metrics(benchmark, details);
    let primary = benchmark
        .groups
        .iter()
        .flat_map(|g| &g.rows)
        .find_map(|m| m.metrics.first());
    let mut columns: Vec<Column> = benchmark
        .varying
        .iter()
        .map(|name| Column::always(*name))
        .collect();
    columns.push(Column::always("subject"));
    columns.push(Column::always(
        primary.map_or("result", |metric| label(&metric.name)),
    ));
    columns.push(Column::always(
        benchmark
            .baseline()
            .map_or("ratio".to_owned(), |name| format!("× {name}")),
    ));
    columns.extend(
        metrics
            .iter()
            .map(|(name, rank)| Column::ranked(*rank, label(name))),
    );
    let rows = benchmark.groups.iter().flat_map(|group| {
        let best = group.rows.first().copied();
        group
            .rows
            .iter()
            .map(move |m| (group, *m, best.is_some_and(|best| std::ptr::eq(best, *m))))
    });
    Table {
        caption: benchmark
            .fixed
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(", "),
        columns,
        rows: rows
            .map(|(group, m, best)| row(benchmark, group, m, best, &metrics))
            .collect(),
    }
}

fn row(
    benchmark: &Benchmark<'_>,
    group: &Group<'_>,
    m: &Measurement,
    best: bool,
    metrics: &[(&str, u8)],
) -> Row {
    let mut cells: Vec<Cell> = benchmark
        .varying
        .iter()
        .map(|name| group.parameter(name).into())
        .collect();
    cells.push(m.case.subject.as_str().into());
    cells.push(m.metrics.first().map(Quantity::of_metric).into());
    cells.push(match group.baseline {
        Some(baseline) if std::ptr::eq(baseline, m) => "1".into(),
        Some(baseline) => times_worse(m, baseline).into(),
        None => Cell::Empty,
    });
    cells.extend(metrics.iter().map(|(name, _)| {
        m.metric(name)
            .map(|metric| Quantity::of_metric(metric).bare())
            .into()
    }));
    let tone = if best && group.rows.len() > 1 {
        Tone::Good
    } else {
        Tone::Plain
    };
    Row { tone, cells }
}

/// The metrics to show beside the primary one, with their ranks: the known ones in their order, then the others.
fn metrics<'a>(benchmark: &Benchmark<'a>, details: bool) -> Vec<(&'a str, u8)> {
    let mut present: Vec<&str> = Vec::new();
    for m in benchmark.groups.iter().flat_map(|group| &group.rows) {
        for metric in m.metrics.iter().skip(1) {
            if !present.contains(&metric.name.as_str()) {
                present.push(&metric.name);
            }
        }
    }
    let known = |name: &str| KNOWN.iter().position(|(known, ..)| *known == name);
    let mut shown: Vec<(usize, &str, u8)> = present
        .into_iter()
        .filter(|name| details || !DETAILS.contains(name))
        .map(|name| known(name).map_or((KNOWN.len(), name, OTHER), |at| (at, name, KNOWN[at].2)))
        .collect();
    shown.sort_by_key(|(at, ..)| *at);
    shown
        .into_iter()
        .map(|(_, name, rank)| (name, if details { 1 } else { rank }))
        .collect()
}

/// The head of a metric's column.
pub(super) fn label(metric: &str) -> &str {
    match metric {
        "ns_per_op" => "time per operation",
        "context_switches_per_s" => "context switches",
        _ => KNOWN
            .iter()
            .find(|(name, ..)| *name == metric)
            .map_or(metric, |(_, label, _)| label),
    }
}

//! The report of `time`: what was proved, then what each command costs.

use record::model::{ArmKind, CommandMetric, Comparison, NoiseFloor, Run, Session, Unit, Verdict};

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::parts;
use crate::quantity::{self, Quantity};
use crate::verdict;

/// The report of a run of `time`; with `details` with every metric.
#[must_use]
pub fn report(run: &Run, details: bool) -> Report {
    let empty = Session::default();
    let session = run.session.as_ref().unwrap_or(&empty);
    let shown: Vec<usize> = (0..session.arms.len())
        .filter(|i| session.arms[*i].kind != ArmKind::Again)
        .collect();
    let mut report = Report::new(match shown.as_slice() {
        [] => "Nothing was timed".to_owned(),
        [one] => format!("Timing of {}", name(session, *one)),
        many => format!("Timing of {} commands", many.len()),
    });
    parts::status(&mut report, run);
    alone(&mut report, session, &shown);
    verdicts(&mut report, run, session);
    if !shown.is_empty() {
        report.items.push(Item::Table(costs(session, &shown, details)));
    }
    failures(&mut report, session, &shown);
    let others = others(run, session);
    if !others.rows.is_empty() {
        report.items.push(Item::Table(others));
    }
    parts::warnings(&mut report, &run.warnings);
    if shown.iter().any(|arm| {
        session
            .figure(*arm, CommandMetric::PeakRss)
            .is_some_and(|f| f.upper_bound)
    }) {
        report.note("≤: the launcher's own memory hides a smaller peak of the command.");
    }
    if !shown.is_empty() {
        report.note("Figures are medians with distribution-free 95 % intervals; no run was left out.");
    }
    parts::environment(&mut report, run);
    report
}

fn name(session: &Session, arm: usize) -> &str {
    session.arms.get(arm).map_or("?", |arm| &arm.name)
}

/// The sentence for a command that is compared with nothing.
fn alone(report: &mut Report, session: &Session, shown: &[usize]) {
    let &[arm] = shown else { return };
    let Some((metric, figure)) =
        whole(session, shown).and_then(|metric| Some((metric, session.figure(arm, metric)?)))
    else {
        return;
    };
    let unit = verdict::unit(metric);
    report.sentence(
        Tone::Plain,
        format!(
            "{} takes {}{}, at best {}.",
            name(session, arm),
            Quantity::of_figure(figure, unit).text(),
            match metric {
                CommandMetric::ToEntry => " to its entry point",
                CommandMetric::ToMain => " to its function main",
                _ => "",
            },
            quantity::text(figure.min, unit)
        ),
    );
    if metric != CommandMetric::ToExit {
        // As the article's timer tells it; a tick of the monotonic clock is a nanosecond.
        report.note(format!(
            "Fastest time: {} ticks, {:.9} seconds; 1,000,000,000 ticks a second.",
            quantity::whole((figure.min * 1e3).round() as u64),
            figure.min / 1e6
        ));
    }
}

/// The time of the whole of what was timed: to the exit or to a place in the start.
fn whole(session: &Session, shown: &[usize]) -> Option<CommandMetric> {
    [
        CommandMetric::ToExit,
        CommandMetric::ToEntry,
        CommandMetric::ToMain,
    ]
    .into_iter()
    .find(|metric| shown.iter().any(|arm| session.figure(*arm, *metric).is_some()))
}

/// Whether a comparison is of the baseline with itself.
fn is_again(session: &Session, comparison: &Comparison) -> bool {
    session
        .arms
        .get(comparison.arm)
        .is_some_and(|arm| arm.kind == ArmKind::Again)
}

/// The verdict on each candidate in the primary metric, with the evidence for and the noise behind it.
fn verdicts(report: &mut Report, run: &Run, session: &Session) {
    let Some(primary) = run.comparisons.first().map(|c| c.metric) else {
        return;
    };
    let baseline = session
        .arms
        .iter()
        .position(|arm| arm.kind == ArmKind::Baseline)
        .unwrap_or(0);
    let of_primary = || run.comparisons.iter().filter(|c| c.metric == primary);
    for comparison in of_primary().filter(|c| !is_again(session, c)) {
        let tone = match comparison.verdict {
            Verdict::Faster => Tone::Good,
            Verdict::Slower => Tone::Bad,
            Verdict::Equivalent | Verdict::Undecided => Tone::Plain,
        };
        let text = verdict::sentence(comparison, name(session, comparison.arm), name(session, baseline));
        report.sentence(tone, text);
        report.items.extend(fixed(comparison).map(Item::Note));
    }
    if let Some(again) = of_primary().find(|c| is_again(session, c)) {
        let floor = NoiseFloor {
            ratio: again.ratio,
            low: again.low,
            high: again.high,
        };
        report.note(verdict::noise(&floor, name(session, baseline)));
    }
}

/// What may be said in addition because the number of runs was fixed beforehand.
fn fixed(comparison: &Comparison) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(p) = comparison.sign_flip_p {
        let p = if p < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {p:.3}")
        };
        parts.push(format!("sign-flip test {p}"));
    }
    if let Some((low, high)) = comparison.fixed_n {
        let unit = Unit::Ratio;
        parts.push(format!(
            "signed-rank interval of the ratio {}",
            quantity::interval(comparison.ratio, low, high, unit)
        ));
    }
    (!parts.is_empty()).then(|| format!("The number of runs was fixed beforehand: {}.", parts.join(", ")))
}

/// A number of runs as a figure.
fn count(runs: usize) -> Cell {
    Quantity::new(runs as f64, Unit::Count).into()
}

/// One row a command.
fn costs(session: &Session, shown: &[usize], details: bool) -> Table {
    let figure = |arm: usize, metric| {
        session
            .figure(arm, metric)
            .map(|figure| Quantity::of_figure(figure, verdict::unit(metric)))
    };
    let bare = |arm: usize, metric| figure(arm, metric).map(Quantity::bare);
    // A metric with the head of its column and its rank; the wall time and its minimum come first and always.
    let whole = whole(session, shown).unwrap_or(CommandMetric::ToExit);
    let optional = [
        (CommandMetric::Cpu, "CPU", 1),
        (CommandMetric::PeakRss, "peak RSS", 2),
        (CommandMetric::PrivateDirty, "private", 2),
        (CommandMetric::Running, "running", 4),
        (CommandMetric::User, "user", 5),
        (CommandMetric::System, "system", 5),
        (CommandMetric::MinorFaults, "faults", 3),
        (CommandMetric::MajorFaults, "major", 7),
        (CommandMetric::Voluntary, "voluntary", 6),
        (CommandMetric::Involuntary, "involuntary", 6),
        (CommandMetric::ContextSwitches, "switches", 6),
    ];
    let counted = |metric| shown.iter().any(|arm| figure(*arm, metric).is_some());
    let split = counted(CommandMetric::Voluntary) || counted(CommandMetric::Involuntary);
    let dull =
        |metric| metric == CommandMetric::MajorFaults || (metric == CommandMetric::ContextSwitches && split);
    let optional: Vec<_> = optional
        .into_iter()
        .filter(|(metric, ..)| counted(*metric) && (details || !dull(*metric)))
        .collect();
    let row = |arm: usize| {
        let mut cells: Vec<Cell> = vec![
            name(session, arm).into(),
            figure(arm, whole).into(),
            session
                .figure(arm, whole)
                .map(|f| Quantity::new(f.min, verdict::unit(whole)))
                .into(),
        ];
        cells.extend(optional.iter().map(|(metric, ..)| bare(arm, *metric).into()));
        cells.push(count(session.values(arm, whole).len()));
        Row {
            tone: Tone::Plain,
            cells,
        }
    };
    let mut columns = vec![
        Column::always("command"),
        Column::always(match whole {
            CommandMetric::ToEntry => "to entry",
            CommandMetric::ToMain => "to main",
            _ => "time",
        }),
        Column::always("fastest"),
    ];
    columns.extend(
        optional
            .iter()
            .map(|(_, label, rank)| Column::ranked(if details { 1 } else { *rank }, *label)),
    );
    columns.push(Column::ranked(3, "runs"));
    Table {
        caption: String::new(),
        columns,
        rows: shown.iter().map(|arm| row(*arm)).collect(),
    }
}

fn failures(report: &mut Report, session: &Session, shown: &[usize]) {
    for arm in shown {
        let (failed, all) = (
            session.failures(*arm),
            session.values(*arm, CommandMetric::ToExit).len(),
        );
        if failed > 0 {
            report.sentence(
                Tone::Bad,
                format!(
                    "{} did not end with exit status 0 in {failed} of {all} runs.",
                    name(session, *arm)
                ),
            );
        }
    }
}

/// The comparisons in the other metrics.
fn others(run: &Run, session: &Session) -> Table {
    let primary = run.comparisons.first().map(|c| c.metric);
    let rest = run
        .comparisons
        .iter()
        .filter(|c| Some(c.metric) != primary && !is_again(session, c));
    let candidates = session
        .arms
        .iter()
        .filter(|arm| arm.kind == ArmKind::Candidate)
        .count();
    let mut columns = vec![
        Column::always("metric"),
        Column::always("ratio"),
        Column::always("verdict"),
    ];
    if candidates > 1 {
        columns.insert(0, Column::always("command"));
    }
    let row = |c: &Comparison| {
        let mut cells: Vec<Cell> = vec![
            verdict::words(c.metric).into(),
            verdict::ratio(c).into(),
            told(c).into(),
        ];
        if candidates > 1 {
            cells.insert(0, name(session, c.arm).into());
        }
        Row {
            tone: Tone::Plain,
            cells,
        }
    };
    Table {
        caption: "Other metrics, as ratios to the baseline".to_owned(),
        columns,
        rows: rest.map(row).collect(),
    }
}

/// A verdict as one word that suits amounts as well as times.
fn told(comparison: &Comparison) -> &'static str {
    let time = matches!(
        comparison.metric,
        CommandMetric::ToExit | CommandMetric::ToEntry | CommandMetric::ToMain | CommandMetric::Running
    );
    match comparison.verdict {
        Verdict::Faster if !time => "less",
        Verdict::Slower if !time => "more",
        verdict => verdict.word(),
    }
}

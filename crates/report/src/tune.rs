//! The report of `tune`: the verdict in one sentence, the fate of every remedy, and how to apply the winner.

use record::model::{CommandMetric, Comparison, Run, TuneArm, TuneArmState, Tuning, Unit};

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::parts;
use crate::quantity::Quantity;
use crate::verdict;

/// The report of a run of `tune`; with `details` remedies that do not apply have a row each.
#[must_use]
pub fn report(run: &Run, details: bool) -> Report {
    let Some(tuning) = &run.tuning else {
        let mut report = Report::new("Nothing was tuned");
        parts::status(&mut report, run);
        parts::warnings(&mut report, &run.warnings);
        parts::environment(&mut report, run);
        return report;
    };
    let command = shell_words::join(&tuning.command);
    let mut report = Report::new(format!("Tuning of {command}"));
    parts::status(&mut report, run);
    if !tuning.sentence.is_empty() {
        report.sentence(
            if tuning.winner.is_some() {
                Tone::Good
            } else {
                Tone::Plain
            },
            tuning.sentence.clone(),
        );
    }
    if let (Some(winner), Some(confirmed)) = (&tuning.winner, &tuning.confirmed) {
        let text = verdict::sentence(confirmed, &format!("With {winner} it"), "without");
        report.note(format!("Confirmed on fresh blocks: {text}"));
    }
    let table = remedies(tuning, details);
    if !table.rows.is_empty() {
        report.items.push(Item::Table(table));
    }
    if !details {
        not_applicable(&mut report, tuning);
    }
    if let Some(winner) = &tuning.winner {
        apply(&mut report, winner, &command);
    }
    if let Some(floor) = &tuning.noise_floor {
        report.note(verdict::noise(floor, "the command"));
    }
    parts::warnings(&mut report, run.warnings.iter().chain(&tuning.warnings));
    if tuning.arms.iter().any(|arm| arm.effect.is_some()) {
        report.note("Ratios are to the command as it is, with 95 % confidence sequences; below 1 is better.");
    }
    parts::environment(&mut report, run);
    report
}

/// How readily a remedy catches the eye: the winner first, what does not apply last.
fn order(state: TuneArmState) -> usize {
    match state {
        TuneArmState::Winner => 0,
        TuneArmState::Guarded => 1,
        TuneArmState::Raced => 2,
        TuneArmState::Dropped => 3,
        TuneArmState::Refused => 4,
        TuneArmState::NotApplicable => 5,
    }
}

fn remedies(tuning: &Tuning, details: bool) -> Table {
    let mut arms: Vec<&TuneArm> = tuning
        .arms
        .iter()
        .filter(|arm| details || arm.state != TuneArmState::NotApplicable)
        .collect();
    let ratio = |arm: &TuneArm| arm.effect.as_ref().map_or(f64::INFINITY, |effect| effect.ratio);
    arms.sort_by(|a, b| {
        order(a.state)
            .cmp(&order(b.state))
            .then(ratio(a).total_cmp(&ratio(b)))
    });
    let goal = match tuning.goal.as_str() {
        "cpu" => "CPU time",
        "rss" => "peak memory",
        _ => "time",
    };
    // The goal has a column of its own; the others follow where they were compared.
    let others: Vec<CommandMetric> = [CommandMetric::ToExit, CommandMetric::Cpu, CommandMetric::PeakRss]
        .into_iter()
        .filter(|metric| {
            arms.iter()
                .any(|arm| arm.also.iter().any(|c| c.metric == *metric))
        })
        .collect();
    let mut columns = vec![
        Column::always("remedy"),
        Column::always("verdict"),
        Column::always(goal),
    ];
    columns.extend(
        others
            .iter()
            .map(|metric| Column::ranked(2, verdict::words(*metric))),
    );
    columns.push(Column::ranked(4, "runs"));
    columns.push(Column::ranked(3, "why"));
    let row = |arm: &TuneArm| {
        let mut cells: Vec<Cell> = vec![
            arm.remedy.as_str().into(),
            word(arm).into(),
            arm.effect.as_ref().map(verdict::ratio).into(),
        ];
        let other = |metric: &CommandMetric| arm.also.iter().find(|c| c.metric == *metric);
        cells.extend(
            others
                .iter()
                .map(|metric| other(metric).map(|c| verdict::ratio(c).bare()).into()),
        );
        cells.push(if arm.runs > 0 {
            Quantity::new(arm.runs as f64, Unit::Count).into()
        } else {
            Cell::Empty
        });
        cells.push(why(arm).into());
        let tone = match arm.state {
            TuneArmState::Winner => Tone::Good,
            TuneArmState::Refused | TuneArmState::NotApplicable => Tone::Dim,
            TuneArmState::Guarded | TuneArmState::Raced | TuneArmState::Dropped => Tone::Plain,
        };
        Row { tone, cells }
    };
    Table {
        caption: String::new(),
        columns,
        rows: arms.into_iter().map(row).collect(),
    }
}

/// The fate of a remedy in a word or two.
fn word(arm: &TuneArm) -> String {
    let measured = |effect: &Comparison| effect.verdict.word().to_owned();
    let measured = arm.effect.as_ref().map(measured);
    match arm.state {
        TuneArmState::Winner => "best".to_owned(),
        TuneArmState::Guarded => "guarded".to_owned(),
        TuneArmState::Raced => measured.unwrap_or_else(|| "raced".to_owned()),
        TuneArmState::Dropped => measured.unwrap_or_else(|| "dropped".to_owned()),
        TuneArmState::Refused => "refused".to_owned(),
        TuneArmState::NotApplicable => "not applicable".to_owned(),
    }
}

fn why(arm: &TuneArm) -> String {
    if let Some(reason) = &arm.reason {
        return reason.clone();
    }
    match (arm.in_effect, arm.output_identical) {
        (Some(false), _) => "it was not in effect".to_owned(),
        (_, Some(false)) => "the output differs".to_owned(),
        _ if arm.state == TuneArmState::Dropped => "dropped from the race".to_owned(),
        _ => String::new(),
    }
}

/// Remedies that cannot work here: one line a reason.
fn not_applicable(report: &mut Report, tuning: &Tuning) {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for arm in tuning
        .arms
        .iter()
        .filter(|arm| arm.state == TuneArmState::NotApplicable)
    {
        let reason = why(arm);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&arm.remedy),
            None => reasons.push((reason, vec![&arm.remedy])),
        }
    }
    for (reason, names) in reasons {
        let reason = if reason.is_empty() {
            "no reason is known"
        } else {
            &reason
        };
        report.note(format!("Not applicable: {} ({reason}).", names.join(", ")));
    }
}

/// How to have the winner from now on. A remedy is `heap=NAME`, `SETTING=VALUE` or `bound`; several are joined with `+`.
fn apply(report: &mut Report, winner: &str, command: &str) {
    let options: Vec<String> = winner
        .split('+')
        .map(|part| match part.split_once('=') {
            Some(("heap", name)) => format!("--heap {}", shell_words::quote(name)),
            None => format!("--{part}"),
            Some(_) => format!("--set {}", shell_words::quote(part)),
        })
        .collect();
    report.heading("How to apply it");
    report.items.push(Item::Commands(vec![
        format!("underhood exec {} -- {command}", options.join(" ")),
        format!("underhood tune --write-launcher FILE -- {command}"),
    ]));
}

//! From the race's arms to what the user is told: the fate of every remedy, the winner, one plain sentence.

use measure::command::compare::{self, Rule, log_ratios};
use measure::command::race::{BASELINE, FIRST, Fate, Outcome};
use record::model::{Block, CommandMetric, Comparison, TuneArm, TuneArmState, Tuning, Verdict};

use super::smoke::Smoke;

/// The metrics that stand beside the goal.
const ALSO: [CommandMetric; 6] = [
    CommandMetric::ToExit,
    CommandMetric::Cpu,
    CommandMetric::PeakRss,
    CommandMetric::MinorFaults,
    CommandMetric::Voluntary,
    CommandMetric::Involuntary,
];

/// The row of a remedy that never raced.
pub fn unraced(name: &str, smoke: &Smoke) -> Option<TuneArm> {
    let (state, reason, in_effect, output_identical) = match smoke {
        Smoke::Passed(_) => return None,
        Smoke::NotApplicable(reason) => (TuneArmState::NotApplicable, reason, None, None),
        Smoke::Refused {
            reason,
            in_effect,
            output_identical,
        } => (TuneArmState::Refused, reason, *in_effect, *output_identical),
    };
    Some(TuneArm {
        remedy: name.to_owned(),
        arm: None,
        state,
        reason: Some(reason.clone()),
        in_effect,
        output_identical,
        effect: None,
        also: Vec::new(),
        runs: 0,
    })
}

/// The rows of the remedies that raced, in the order of their arms.
pub fn raced(names: &[String], race: &Outcome, goal: CommandMetric, rule: Rule) -> Vec<TuneArm> {
    // The confirmation is a figure of its own and is not mixed with the race that chose its candidate.
    let blocks: Vec<&Block> = race
        .blocks
        .iter()
        .filter(|block| block.stage != "confirm")
        .collect();
    names
        .iter()
        .zip(&race.fates)
        .enumerate()
        .map(|(index, (name, fate))| {
            let arm = FIRST + index;
            let compared = |metric| {
                let ratios = log_ratios(blocks.iter().copied(), metric, BASELINE, arm);
                compare::comparison(&ratios, metric, arm, rule)
            };
            let (state, reason, identical) = match fate {
                Some(Fate::Won) => (TuneArmState::Winner, None, true),
                Some(Fate::Guarded(reason)) => (TuneArmState::Guarded, Some(reason.clone()), true),
                Some(Fate::Dropped(reason)) => (TuneArmState::Dropped, Some(reason.clone()), true),
                Some(Fate::Broken(reason)) => (TuneArmState::Refused, Some(reason.clone()), false),
                Some(Fate::Stayed) | None => (TuneArmState::Raced, None, true),
            };
            TuneArm {
                remedy: name.clone(),
                arm: Some(arm),
                state,
                reason,
                in_effect: Some(true),
                output_identical: Some(identical),
                effect: compared(goal),
                also: ALSO
                    .into_iter()
                    .filter(|&metric| metric != goal)
                    .filter_map(compared)
                    .collect(),
                runs: race
                    .blocks
                    .iter()
                    .flat_map(|block| &block.entries)
                    .filter(|entry| entry.arm == arm)
                    .count(),
            }
        })
        .collect()
}

/// One plain sentence about all of it.
pub fn sentence(tuning: &Tuning, goal: CommandMetric, interrupted: bool) -> String {
    let what = match goal {
        CommandMetric::Cpu => "processor time",
        CommandMetric::PeakRss => "peak memory",
        _ => "time",
    };
    if let (Some(winner), Some(confirmed)) = (&tuning.winner, &tuning.confirmed) {
        let same = if compared(tuning) {
            ", with the same output"
        } else {
            ""
        };
        return format!(
            "{winner} helps: the {what} falls to {:.3} of what it was ({:.3} to {:.3}, confirmed on {} fresh pairs of runs){same}.",
            confirmed.ratio, confirmed.low, confirmed.high, confirmed.blocks
        );
    }
    if interrupted {
        return "Interrupted before anything could be proved.".to_owned();
    }
    if let Some(guarded) = tuning
        .arms
        .iter()
        .find(|arm| arm.state == TuneArmState::Guarded && looks_faster(arm))
    {
        return format!(
            "Nothing here is proved to help within the limits: {} had the lowest figure and was refused, {}.",
            guarded.remedy,
            guarded.reason.as_deref().unwrap_or("by a guard")
        );
    }
    let raced: Vec<&Comparison> = tuning.arms.iter().filter_map(|arm| arm.effect.as_ref()).collect();
    if raced.is_empty() {
        return "Nothing here can be tried on this program; the reasons are below.".to_owned();
    }
    let undecided = raced
        .iter()
        .filter(|effect| effect.verdict == Verdict::Undecided)
        .count();
    if undecided == 0 {
        return format!("Nothing here helps: no remedy lowers the {what} noticeably.");
    }
    format!(
        "Nothing here is proved to help: no remedy lowers the {what} enough to be told from the noise within the budget."
    )
}

fn looks_faster(arm: &TuneArm) -> bool {
    arm.effect.as_ref().is_some_and(|effect| effect.ratio < 0.95)
}

fn compared(tuning: &Tuning) -> bool {
    !tuning
        .warnings
        .iter()
        .any(|warning| warning.code.starts_with("output-not"))
}

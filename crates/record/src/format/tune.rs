//! `underhood.tune/1`: the fate of every remedy, and the winner if there is one.
//!
//! Metrics have the short names of `--goal` here (`wall`, `cpu`, `peak_rss`): only ratios are reported, and a ratio
//! has no unit that the long names would have to carry.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{CommandMetric, Comparison, Run, TuneArm, TuneArmState, Tuning};

use super::common::{Number, Ordered, WarningDoc};
use super::environment;
use super::time::{FigureDoc, figures};

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.tune/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix: Number,
    /// `complete`, `interrupted`, `failed` or `open`.
    pub status: String,
    /// The seed of everything random in the run, in decimal.
    pub seed: String,
    /// Facts about the host; see [`environment`].
    pub environment: Map<String, Value>,
    /// The user's command.
    pub command: Vec<String>,
    /// `wall`, `cpu` or `rss`.
    pub goal: String,
    /// One plain sentence.
    pub sentence: String,
    /// What the command costs without any remedy, under the names of `underhood.time/1`.
    pub baseline: Ordered<Option<FigureDoc>>,
    /// The baseline against itself.
    pub noise_floor: Option<NoiseFloor>,
    /// Every remedy, also those that do not apply.
    pub arms: Vec<Arm>,
    /// The remedy that won; `null` when nothing helps.
    pub winner: Option<String>,
    /// The winner on fresh blocks: the figure to quote.
    pub confirmed: Option<Confirmed>,
    /// What the reader must know.
    pub warnings: Vec<WarningDoc>,
}

/// The baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// Point estimate.
    pub ratio: Number,
    /// Lower end.
    pub ratio_low: Number,
    /// Upper end; `null` while nothing can be said.
    pub ratio_high: Number,
}

/// One remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// As the user would write it.
    pub remedy: String,
    /// False when it cannot work on this program; `reason` says why.
    pub applicable: bool,
    /// `not_applicable`, `refused`, `dropped`, `raced`, `guarded` or `winner`.
    pub state: String,
    /// Why it did not apply, was refused or was guarded.
    pub reason: Option<String>,
    /// Whether it was seen to be in effect; `null` when it never ran.
    pub in_effect: Option<bool>,
    /// Whether exit status and output were the baseline's; `null` when never compared.
    pub output_identical: Option<bool>,
    /// `faster`, `slower`, `equivalent`, `undecided`; `null` when it never ran.
    pub verdict: Option<String>,
    /// Its effect on the goal.
    pub effect: Option<Effect>,
    /// Its effects on the other metrics, by short name.
    pub also: Ordered<Also>,
    /// How many timed runs it got.
    pub runs: usize,
}

/// A ratio to the baseline with its metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Short name of the metric.
    pub metric: String,
    /// Remedy / baseline.
    pub ratio: Number,
    /// Lower end of the confidence sequence.
    pub low: Number,
    /// Upper end; `null` while nothing can be said.
    pub high: Number,
}

/// A ratio to the baseline with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Also {
    /// Remedy / baseline.
    pub ratio: Number,
    /// Lower end of the confidence sequence.
    pub low: Number,
    /// Upper end; `null` while nothing can be said.
    pub high: Number,
    /// `faster` (less of it), `slower` (more of it), `equivalent` or `undecided`.
    pub verdict: String,
}

/// The winner against the baseline on fresh blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Short name of the metric.
    pub metric: String,
    /// Remedy / baseline.
    pub ratio: Number,
    /// Lower end of the confidence sequence.
    pub low: Number,
    /// Upper end.
    pub high: Number,
    /// The verdict.
    pub verdict: String,
    /// How many fresh blocks.
    pub runs: usize,
}

impl Document {
    /// The document of a run of `tune`; none when the run holds no result of one.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let tuning = run.tuning.as_ref()?;
        let Tuning {
            command,
            goal,
            noise_floor,
            arms,
            winner,
            confirmed,
            sentence,
            session,
            warnings,
        } = tuning;
        let mut all_warnings = run.warnings.clone();
        all_warnings.extend(warnings.iter().filter(|w| !run.warnings.contains(w)).cloned());
        Some(Self {
            schema: SCHEMA.to_owned(),
            started_unix: run.started_unix.into(),
            status: run.status.word().to_owned(),
            seed: run.seed.to_string(),
            environment: environment::object(&run.environment),
            command: command.clone(),
            goal: goal.clone(),
            sentence: sentence.clone(),
            baseline: figures(session, 0),
            noise_floor: noise_floor.map(|floor| NoiseFloor {
                ratio: floor.ratio.into(),
                ratio_low: floor.low.into(),
                ratio_high: floor.high.into(),
            }),
            arms: arms.iter().map(arm).collect(),
            winner: winner.clone(),
            confirmed: confirmed.as_ref().map(|c| Confirmed {
                metric: short_name(c.metric).to_owned(),
                ratio: c.ratio.into(),
                low: c.low.into(),
                high: c.high.into(),
                verdict: c.verdict.word().to_owned(),
                runs: c.blocks,
            }),
            warnings: WarningDoc::all(&all_warnings),
        })
    }
}

fn arm(from: &TuneArm) -> Arm {
    let effect = |c: &Comparison| Effect {
        metric: short_name(c.metric).to_owned(),
        ratio: c.ratio.into(),
        low: c.low.into(),
        high: c.high.into(),
    };
    let also = |c: &Comparison| {
        let ratio = Also {
            ratio: c.ratio.into(),
            low: c.low.into(),
            high: c.high.into(),
            verdict: c.verdict.word().to_owned(),
        };
        (short_name(c.metric).to_owned(), ratio)
    };
    Arm {
        remedy: from.remedy.clone(),
        applicable: from.state != TuneArmState::NotApplicable,
        state: from.state.word().to_owned(),
        reason: from.reason.clone(),
        in_effect: from.in_effect,
        output_identical: from.output_identical,
        verdict: from.effect.as_ref().map(|c| c.verdict.word().to_owned()),
        effect: from.effect.as_ref().map(effect),
        also: Ordered(from.also.iter().map(also).collect()),
        runs: from.runs,
    }
}

fn short_name(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::ToExit => "wall",
        CommandMetric::Running => "running",
        CommandMetric::Cpu => "cpu",
        CommandMetric::User => "user",
        CommandMetric::System => "system",
        CommandMetric::PeakRss => "peak_rss",
        others => others.name(),
    }
}

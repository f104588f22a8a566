//! `underhood.time/1`: what `time` found about whole commands.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{ArmKind, CommandMetric, Comparison, Figure, Run, Session};

use super::common::{Number, Ordered, WarningDoc};
use super::environment;

/// The name and version of this document.
pub const SCHEMA: &str = "underhood.time/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix: Number,
    /// `complete`, `interrupted`, `failed` or `open`.
    pub status: String,
    /// The command line.
    pub arguments: Vec<String>,
    /// The seed of everything random in the run, in decimal.
    pub seed: String,
    /// Facts about the host; see [`environment`].
    pub environment: Map<String, Value>,
    /// The commands; when there is a baseline it is the first.
    pub commands: Vec<Command>,
    /// What the blocks prove, the primary metric first.
    pub comparisons: Vec<Ratio>,
    /// What the noise alone does: the baseline against itself, for the primary metric.
    pub noise_floor: Option<NoiseFloor>,
    /// What the reader must know.
    pub warnings: Vec<WarningDoc>,
}

/// One command with a figure (or `null`) for every metric, under the metric's own name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The command with its arguments.
    pub command: Vec<String>,
    /// Its name in tables.
    pub name: String,
    /// True for the one that the others are compared with.
    pub baseline: bool,
    /// How many runs did not end with exit status 0.
    pub failures: usize,
    /// The figures.
    #[serde(flatten)]
    pub figures: Ordered<Option<FigureDoc>>,
}

/// The median of the runs with its distribution-free 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureDoc {
    /// The median, the estimate of what a run costs.
    pub estimate: Number,
    /// Lower end; `null` with fewer than six runs.
    pub low: Option<Number>,
    /// Upper end; `null` with fewer than six runs.
    pub high: Option<Number>,
    /// The smallest run.
    pub min: Number,
    /// The median.
    pub median: Number,
    /// The number of runs.
    pub n: usize,
    /// True when the true figure may be smaller.
    pub upper_bound: bool,
}

/// candidate / baseline with its confidence sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The metric's name.
    pub metric: String,
    /// Index of the candidate in `commands`.
    pub command: Option<usize>,
    /// exp of the Hodges-Lehmann median of the log ratios.
    pub ratio: Number,
    /// Lower end of the confidence sequence.
    pub low: Number,
    /// Upper end; `null` while nothing can be said.
    pub high: Number,
    /// `faster`, `slower`, `equivalent` or `undecided`.
    pub verdict: String,
    /// The number of blocks behind it.
    pub blocks: usize,
    /// The smallest relative effect that could have been seen, for `undecided`.
    pub smallest_detectable: Option<Number>,
    /// Two-sided p-value of the sign-flip test, for a run count fixed beforehand.
    pub sign_flip_p: Option<Number>,
    /// Signed-rank interval, for a run count fixed beforehand.
    pub fixed_n: Option<Interval>,
}

/// Two ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: Number,
    /// Upper end.
    pub high: Number,
}

/// The baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The metric's name.
    pub metric: String,
    /// Point estimate.
    pub ratio: Number,
    /// Lower end of the confidence sequence.
    pub ratio_low: Number,
    /// Upper end; `null` while nothing can be said.
    pub ratio_high: Number,
}

impl Document {
    /// The document of a run of `time`.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let empty = Session::default();
        let session = run.session.as_ref().unwrap_or(&empty);
        let is_again = |arm: usize| session.arms.get(arm).is_some_and(|a| a.kind == ArmKind::Again);
        // The baseline's double is noise floor, not a command; so indices into `commands` skip it.
        let shown: Vec<usize> = (0..session.arms.len()).filter(|arm| !is_again(*arm)).collect();
        let command_of = |arm: usize| shown.iter().position(|index| *index == arm);
        let (again, candidates): (Vec<&Comparison>, Vec<&Comparison>) =
            run.comparisons.iter().partition(|c| is_again(c.arm));
        Self {
            schema: SCHEMA.to_owned(),
            started_unix: run.started_unix.into(),
            status: run.status.word().to_owned(),
            arguments: run.arguments.clone(),
            seed: run.seed.to_string(),
            environment: environment::object(&run.environment),
            commands: shown.iter().map(|arm| command(session, *arm)).collect(),
            comparisons: candidates
                .into_iter()
                .map(|c| ratio(c, command_of(c.arm)))
                .collect(),
            noise_floor: again.first().map(|c| NoiseFloor {
                metric: c.metric.name().to_owned(),
                ratio: c.ratio.into(),
                ratio_low: c.low.into(),
                ratio_high: c.high.into(),
            }),
            warnings: WarningDoc::all(&run.warnings),
        }
    }
}

fn command(session: &Session, index: usize) -> Command {
    let arm = &session.arms[index];
    Command {
        command: arm.command.clone(),
        name: arm.name.clone(),
        baseline: arm.kind == ArmKind::Baseline,
        failures: session.failures(index),
        figures: figures(session, index),
    }
}

/// A figure or `null` for every metric of one arm, under the metric's own name.
pub(super) fn figures(session: &Session, arm: usize) -> Ordered<Option<FigureDoc>> {
    let figure = |metric: CommandMetric| {
        (
            metric.name().to_owned(),
            session.figure(arm, metric).map(figure_doc),
        )
    };
    Ordered(CommandMetric::ALL.into_iter().map(figure).collect())
}

fn figure_doc(figure: Figure) -> FigureDoc {
    FigureDoc {
        estimate: figure.median.into(),
        low: figure.interval.map(|(low, _)| low.into()),
        high: figure.interval.map(|(_, high)| high.into()),
        min: figure.min.into(),
        median: figure.median.into(),
        n: figure.n,
        upper_bound: figure.upper_bound,
    }
}

fn ratio(from: &Comparison, command: Option<usize>) -> Ratio {
    Ratio {
        metric: from.metric.name().to_owned(),
        command,
        ratio: from.ratio.into(),
        low: from.low.into(),
        high: from.high.into(),
        verdict: from.verdict.word().to_owned(),
        blocks: from.blocks,
        smallest_detectable: from.smallest_detectable.map(Number),
        sign_flip_p: from.sign_flip_p.map(Number),
        fixed_n: from.fixed_n.map(|(low, high)| Interval {
            low: low.into(),
            high: high.into(),
        }),
    }
}

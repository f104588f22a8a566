//! A contest between a baseline and a fixed set of candidates: blocks until every candidate is decided, or exactly
//! as many as asked for.

use record::model::{Block, CommandMetric, Comparison, NoiseFloor, Verdict};

use super::block::{self, ArmRunner, Stop};
use super::compare::{self, Rule};

/// How long a contest goes on.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What decides.
    pub metric: CommandMetric,
    /// How it is judged.
    pub rule: Rule,
    /// Exactly so many blocks, whatever they show.
    pub runs: Option<u32>,
    /// Without `runs`: at least so many blocks.
    pub min_blocks: u32,
    /// Without `runs`: no new block starts after so many seconds.
    pub budget_s: f64,
    /// Seed of orders and paddings.
    pub seed: u64,
}

/// Blocks and what they prove.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The primary metric first, then the others, each for every candidate.
    pub comparisons: Vec<Comparison>,
    /// The baseline against itself.
    pub noise_floor: Option<NoiseFloor>,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

/// What is told after every block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Blocks done.
    pub blocks: usize,
    /// Seconds spent.
    pub spent_s: f64,
    /// Share done, 0 to 1, by whichever limit is nearer.
    pub share: f64,
}

/// Runs the contest. Arm 0 is the baseline; `again` is its twin, if there is one; all others are candidates.
pub fn run(
    runner: &mut dyn ArmRunner,
    arms: usize,
    again: Option<usize>,
    options: &Options,
    tell: &mut dyn FnMut(Progress, &Block),
) -> Outcome {
    let all: Vec<usize> = (0..arms).collect();
    let candidates: Vec<usize> = (1..arms).filter(|&arm| Some(arm) != again).collect();
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut outcome = Outcome::default();
    let start_s = runner.now_s();
    loop {
        let index = u32::try_from(outcome.blocks.len()).unwrap_or(u32::MAX);
        match block::run(runner, &all, index, "measure", random.u64(..)) {
            Ok(block) => outcome.blocks.push(block),
            Err(stop) => {
                outcome.stop = Some(stop);
                break;
            }
        }
        let done = outcome.blocks.len();
        let spent_s = runner.now_s() - start_s;
        let share = match options.runs {
            Some(runs) => done as f64 / f64::from(runs.max(1)),
            None => (spent_s / options.budget_s).min(1.0),
        };
        if let Some(last) = outcome.blocks.last() {
            tell(
                Progress {
                    blocks: done,
                    spent_s,
                    share,
                },
                last,
            );
        }
        let ended = match options.runs {
            Some(runs) => done >= runs as usize,
            None => {
                done >= options.min_blocks as usize
                    && (spent_s >= options.budget_s || decided(&outcome.blocks, &candidates, options))
            }
        };
        if ended {
            break;
        }
    }
    conclude(&mut outcome, &candidates, again, options);
    outcome
}

/// A single command is decided when its own centre is known to the margin; candidates when each has a verdict.
fn decided(blocks: &[Block], candidates: &[usize], options: &Options) -> bool {
    if candidates.is_empty() {
        let logs: Vec<f64> = blocks
            .iter()
            .filter_map(|block| block.entries.first()?.value(options.metric))
            .map(|value| value.max(f64::MIN_POSITIVE).ln())
            .collect();
        let interval = compare::sequence(&logs, options.rule.alpha).interval();
        return interval.is_bounded() && interval.width() <= 2.0 * options.rule.margin.ln_1p();
    }
    candidates.iter().all(|&arm| {
        let ratios = compare::log_ratios(blocks, options.metric, 0, arm);
        compare::comparison(&ratios, options.metric, arm, options.rule)
            .is_some_and(|comparison| comparison.verdict != Verdict::Undecided)
    })
}

fn conclude(outcome: &mut Outcome, candidates: &[usize], again: Option<usize>, options: &Options) {
    let others = CommandMetric::ALL
        .into_iter()
        .filter(|&metric| metric != options.metric);
    for metric in std::iter::once(options.metric).chain(others) {
        for &arm in candidates {
            let ratios = compare::log_ratios(&outcome.blocks, metric, 0, arm);
            let Some(comparison) = compare::comparison(&ratios, metric, arm, options.rule) else {
                continue;
            };
            outcome.comparisons.push(match options.runs {
                Some(_) => compare::with_fixed_n(comparison, &ratios, options.rule.alpha, options.seed),
                None => comparison,
            });
        }
    }
    if let Some(again) = again {
        outcome.noise_floor =
            compare::noise_floor(&outcome.blocks, options.metric, (0, again), options.rule.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::fake::Fake;

    fn options(runs: Option<u32>) -> Options {
        Options {
            metric: CommandMetric::ToExit,
            rule: Rule::default(),
            runs,
            min_blocks: 10,
            budget_s: 60.0,
            seed: 5,
        }
    }

    #[test]
    fn a_clear_difference_ends_the_contest_early() {
        let mut fake = Fake::new(&[0.1, 0.1, 0.08], 0.02, 3);
        let outcome = run(&mut fake, 3, Some(1), &options(None), &mut |_, _| {});
        assert_eq!(outcome.comparisons[0].verdict, Verdict::Faster);
        assert!(outcome.blocks.len() < 20, "{} blocks", outcome.blocks.len());
        assert!((outcome.comparisons[0].ratio - 0.8).abs() < 0.03);
        assert!(outcome.noise_floor.is_some());
    }

    #[test]
    fn a_fixed_count_is_kept_and_brings_the_fixed_n_figures() {
        let mut fake = Fake::new(&[0.1, 0.05], 0.02, 3);
        let outcome = run(&mut fake, 2, None, &options(Some(30)), &mut |_, _| {});
        assert_eq!(outcome.blocks.len(), 30);
        let comparison = &outcome.comparisons[0];
        assert!(comparison.sign_flip_p.unwrap() < 0.001);
        let (low, high) = comparison.fixed_n.unwrap();
        assert!(low < 0.5 + 0.02 && high > 0.5 - 0.02);
    }

    #[test]
    fn the_budget_ends_an_undecided_contest() {
        let mut fake = Fake::new(&[0.1, 0.1], 0.5, 3);
        let outcome = run(
            &mut fake,
            2,
            None,
            &Options {
                budget_s: 4.0,
                ..options(None)
            },
            &mut |_, _| {},
        );
        assert_eq!(outcome.comparisons[0].verdict, Verdict::Undecided);
        assert!(outcome.comparisons[0].smallest_detectable.unwrap() > 0.1);
    }

    #[test]
    fn a_failure_keeps_the_blocks_so_far() {
        let mut fake = Fake::new(&[0.1, 0.1], 0.0, 3);
        fake.fail_arm = Some(1);
        let outcome = run(&mut fake, 2, None, &options(Some(3)), &mut |_, _| {});
        assert!(matches!(outcome.stop, Some(Stop::Failed { arm: 1, .. })));
        assert!(outcome.blocks.is_empty());
    }
}

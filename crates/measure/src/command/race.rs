//! Many candidates and one budget: which of them really helps, if any?
//!
//! 1. *Screening*: a few blocks of everybody. It proves nothing and costs little; the most promising go on.
//! 2. *Racing*: blocks of the survivors. A candidate leaves as soon as its confidence sequence shows that it is
//!    worse than the leader, or that it cannot beat the baseline by the margin. The leader must be accepted by e-BH
//!    over all candidates that entered, those that left included: many candidates, one error rate.
//! 3. *Confirmation*: the leader against the baseline on fresh blocks. Whoever wins among many was partly lucky;
//!    the figure to report is this one. It wins only if the upper end lies below 1 − margin.
//!
//! Confidence sequences are valid under any stopping rule, so all of this deciding on the way costs nothing.

use record::model::{Block, CommandMetric, Comparison, NoiseFloor};
use stats::e_bh::e_bh;
use stats::hodges_lehmann::hodges_lehmann;

use super::block::{self, ArmRunner, Stop};
use super::compare::{self, Rule, log_ratios, pairs};

/// Index of the baseline.
pub const BASELINE: usize = 0;
/// Index of the baseline's twin, which shows the noise.
pub const AGAIN: usize = 1;
/// Index of the first candidate.
pub const FIRST: usize = 2;

/// Growth below so many bytes is never refused: every heap brings a few pages of its own, which is a large share of a
/// small program and matters to nobody.
pub const NEGLIGIBLE_GROWTH: f64 = 4_194_304.0;

/// Blocks after which racing goes on only to tell tied leaders apart, and stops.
const ENOUGH: usize = 20;

/// How a race is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What is to become smaller.
    pub metric: CommandMetric,
    /// How it is judged.
    pub rule: Rule,
    /// Seconds for all of it.
    pub budget_s: f64,
    /// Exactly so many blocks of racing and so many of confirmation, instead of the budget.
    pub runs: Option<u32>,
    /// How many candidates survive the screening.
    pub keep: usize,
    /// Largest accepted growth of the peak resident set, 0.25 for 25 %; `None` for any.
    pub max_rss_growth: Option<f64>,
    /// Seed of orders and paddings.
    pub seed: u64,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It left; the text says why.
    Dropped(String),
    /// A guard refused it; the text says why.
    Guarded(String),
    /// It broke: failed, or its output differed.
    Broken(String),
    /// It stayed to the end.
    Stayed,
    /// It won and was confirmed.
    Won,
}

/// The result of a race.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All blocks, with their stages.
    pub blocks: Vec<Block>,
    /// The fate of each candidate, by its index less [`FIRST`].
    pub fates: Vec<Option<Fate>>,
    /// The winner's arm.
    pub winner: Option<usize>,
    /// The confirmation of the leader, whether it won or not.
    pub confirmed: Option<Comparison>,
    /// The baseline against itself.
    pub noise_floor: Option<NoiseFloor>,
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
}

/// What is told after every block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// `screen`, `race` or `confirm`.
    pub stage: &'a str,
    /// Arms in the block.
    pub arms: usize,
    /// Seconds spent of the budget.
    pub spent_s: f64,
}

struct Race<'a> {
    runner: &'a mut dyn ArmRunner,
    options: Options,
    random: fastrand::Rng,
    start_s: f64,
    alive: Vec<usize>,
    outcome: Outcome,
    tell: &'a mut dyn FnMut(Progress<'_>, &Block),
}

/// Runs the race. Arms: 0 the baseline, 1 its twin, then `candidates` candidates.
pub fn run(
    runner: &mut dyn ArmRunner,
    candidates: usize,
    options: Options,
    tell: &mut dyn FnMut(Progress<'_>, &Block),
) -> Outcome {
    let start_s = runner.now_s();
    let mut race = Race {
        runner,
        options,
        random: fastrand::Rng::with_seed(options.seed),
        start_s,
        alive: (FIRST..FIRST + candidates).collect(),
        outcome: Outcome {
            fates: vec![None; candidates],
            ..Outcome::default()
        },
        tell,
    };
    let result = race
        .screen()
        .and_then(|()| race.race())
        .and_then(|leader| race.confirm(leader));
    race.outcome.stop = result.err();
    race.conclude()
}

impl Race<'_> {
    fn spent_s(&mut self) -> f64 {
        self.runner.now_s() - self.start_s
    }

    /// One block of the baseline, its twin where wanted, and the living. A candidate that breaks leaves; a broken
    /// baseline ends the race.
    fn block(&mut self, stage: &str, arms: &[usize]) -> Result<(), Stop> {
        let mut arms = arms.to_vec();
        loop {
            let index = u32::try_from(self.outcome.blocks.len()).unwrap_or(u32::MAX);
            match block::run(self.runner, &arms, index, stage, self.random.u64(..)) {
                Ok(block) => {
                    let spent_s = self.spent_s();
                    (self.tell)(
                        Progress {
                            stage,
                            arms: arms.len(),
                            spent_s,
                        },
                        &block,
                    );
                    self.outcome.blocks.push(block);
                    return Ok(());
                }
                Err(Stop::Failed { arm, reason, .. }) if arm >= FIRST => {
                    self.leave(arm, Fate::Broken(reason));
                    arms.retain(|&other| other != arm);
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    fn leave(&mut self, arm: usize, fate: Fate) {
        self.alive.retain(|&other| other != arm);
        self.outcome.fates[arm - FIRST] = Some(fate);
    }

    fn with_baselines(&self) -> Vec<usize> {
        [BASELINE, AGAIN]
            .into_iter()
            .chain(self.alive.iter().copied())
            .collect()
    }

    fn ratios(&self, baseline: usize, arm: usize) -> Vec<f64> {
        log_ratios(&self.outcome.blocks, self.options.metric, baseline, arm)
    }

    fn point(&self, arm: usize) -> f64 {
        hodges_lehmann(&self.ratios(BASELINE, arm)).unwrap_or(f64::INFINITY)
    }

    fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<(f64, usize)> = self.alive.iter().map(|&arm| (self.point(arm), arm)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().map(|(_, arm)| arm).collect()
    }

    fn screen(&mut self) -> Result<(), Stop> {
        if self.alive.is_empty() {
            return Ok(());
        }
        // Three blocks tell a large gain from none; a command so long that three would eat a third of the budget gets
        // fewer.
        for done in 1..=3 {
            let arms = self.with_baselines();
            self.block("screen", &arms)?;
            let each = self.spent_s() / f64::from(done);
            if self.options.runs.is_none() && each * f64::from(done + 1) > self.options.budget_s / 3.0 {
                break;
            }
        }
        self.guard();
        for arm in self.ranked().into_iter().skip(self.options.keep) {
            let ratio = self.point(arm).exp();
            self.leave(
                arm,
                Fate::Dropped(format!(
                    "not among the best {} after screening ({ratio:.3} ×)",
                    self.options.keep
                )),
            );
        }
        Ok(())
    }

    /// Refuses candidates whose memory grew too much in most blocks so far: one lean run does not make a fat heap lean.
    fn guard(&mut self) {
        let Some(growth) = self.options.max_rss_growth else {
            return;
        };
        if self.options.metric == CommandMetric::PeakRss {
            return;
        }
        for arm in self.alive.clone() {
            let pairs = pairs(&self.outcome.blocks, CommandMetric::PeakRss, BASELINE, arm);
            let too_much = |&(before, after): &(f64, f64)| {
                after > before * (1.0 + growth) && after - before > NEGLIGIBLE_GROWTH
            };
            if 2 * pairs.iter().filter(|pair| too_much(pair)).count() > pairs.len() {
                let ratios: Vec<f64> = pairs
                    .iter()
                    .map(|(before, after)| (after / before).ln())
                    .collect();
                let ratio = hodges_lehmann(&ratios).unwrap_or(0.0).exp();
                let allowed = 1.0 + growth;
                let why = format!(
                    "its peak memory is {ratio:.2} × the baseline's, and {allowed:.2} × is allowed (--max-rss-growth)"
                );
                self.leave(arm, Fate::Guarded(why));
            }
        }
    }

    /// Races until one leader is accepted and stands alone, nobody is left, or the time is up. Returns the leader.
    fn race(&mut self) -> Result<Option<usize>, Stop> {
        let mut raced = 0;
        while !self.alive.is_empty() {
            let spent = self.spent_s();
            let reserve = self.confirmation_s();
            let over = match self.options.runs {
                Some(runs) => raced >= runs as usize,
                None => spent + reserve >= self.options.budget_s,
            };
            if over {
                break;
            }
            let arms = self.with_baselines();
            self.block("race", &arms)?;
            raced += 1;
            self.guard();
            self.drop_losers();
            let Some(&leader) = self.ranked().first() else {
                return Ok(None);
            };
            let settled = self.alive.len() == 1 || raced >= ENOUGH;
            if self.options.runs.is_none() && settled && self.accepted(leader) {
                break;
            }
        }
        let leader = self.ranked().first().copied();
        Ok(leader.filter(|&leader| self.accepted(leader)))
    }

    /// Seconds that a confirmation needs: 14 blocks of two, at most 40 % of the budget.
    fn confirmation_s(&self) -> f64 {
        let runs: usize = self.outcome.blocks.iter().map(|block| block.entries.len()).sum();
        let total: f64 = self
            .outcome
            .blocks
            .iter()
            .flat_map(|block| &block.entries)
            .filter_map(|entry| entry.value(CommandMetric::ToExit))
            .sum();
        (28.0 * total / 1e6 / runs.max(1) as f64).min(0.4 * self.options.budget_s)
    }

    fn drop_losers(&mut self) {
        let Some(&leader) = self.ranked().first() else {
            return;
        };
        for arm in self.alive.clone() {
            let interval = compare::sequence(&self.ratios(BASELINE, arm), self.options.rule.alpha).interval();
            if interval.low > -self.options.rule.margin.ln_1p() {
                let why = format!(
                    "cannot be more than {:.1} % better",
                    100.0 * self.options.rule.margin
                );
                self.leave(arm, Fate::Dropped(why));
                continue;
            }
            if arm != leader {
                let against =
                    compare::sequence(&self.ratios(leader, arm), self.options.rule.alpha).interval();
                if against.low > 0.0 {
                    self.leave(arm, Fate::Dropped("another one is better".to_owned()));
                }
            }
        }
    }

    /// Whether e-BH over all candidates that entered accepts this one.
    fn accepted(&self, arm: usize) -> bool {
        let e: Vec<f64> = (FIRST..FIRST + self.outcome.fates.len())
            .map(|arm| compare::sequence(&self.ratios(BASELINE, arm), self.options.rule.alpha).e_less(0.0))
            .collect();
        e_bh(&e, self.options.rule.alpha)[arm - FIRST]
    }

    fn confirm(&mut self, leader: Option<usize>) -> Result<(), Stop> {
        let Some(leader) = leader else { return Ok(()) };
        let first = self.outcome.blocks.len();
        let edge = -self.options.rule.margin.ln_1p();
        let mut done = 0;
        loop {
            self.block("confirm", &[BASELINE, leader])?;
            if !self.alive.contains(&leader) {
                return Ok(());
            }
            done += 1;
            let ratios = log_ratios(
                &self.outcome.blocks[first..],
                self.options.metric,
                BASELINE,
                leader,
            );
            let interval = compare::sequence(&ratios, self.options.rule.alpha).interval();
            let ended = match self.options.runs {
                Some(runs) => done >= runs,
                None => {
                    interval.high < edge || interval.low > edge || self.spent_s() >= self.options.budget_s
                }
            };
            if ended {
                self.guard();
                if !self.alive.contains(&leader) {
                    return Ok(());
                }
                self.outcome.confirmed =
                    compare::comparison(&ratios, self.options.metric, leader, self.options.rule);
                if interval.high < edge {
                    self.outcome.winner = Some(leader);
                    self.outcome.fates[leader - FIRST] = Some(Fate::Won);
                } else {
                    let why = "fresh blocks did not confirm the gain".to_owned();
                    self.outcome.fates[leader - FIRST] = Some(Fate::Dropped(why));
                }
                return Ok(());
            }
        }
    }

    fn conclude(mut self) -> Outcome {
        for fate in &mut self.outcome.fates {
            fate.get_or_insert(Fate::Stayed);
        }
        self.outcome.noise_floor = compare::noise_floor(
            &self.outcome.blocks,
            self.options.metric,
            (BASELINE, AGAIN),
            self.options.rule.alpha,
        );
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::fake::Fake;

    fn options(seed: u64) -> Options {
        Options {
            metric: CommandMetric::ToExit,
            rule: Rule::default(),
            budget_s: 120.0,
            runs: None,
            keep: 4,
            max_rss_growth: Some(0.25),
            seed,
        }
    }

    fn race(fake: &mut Fake, seed: u64) -> Outcome {
        let candidates = fake.truth.len() - FIRST;
        run(fake, candidates, options(seed), &mut |_, _| {})
    }

    #[test]
    fn a_quarter_off_a_command_of_0_7_s_is_found_and_confirmed_within_two_minutes() {
        for seed in 0..20 {
            let truth = [0.7, 0.7, 0.72, 0.7, 0.525, 0.71, 0.69, 0.7, 0.9, 0.56];
            let mut fake = Fake::new(&truth, 0.03, seed);
            let outcome = race(&mut fake, seed);
            assert_eq!(outcome.winner, Some(4), "seed {seed}: {:?}", outcome.fates);
            let confirmed = outcome.confirmed.unwrap();
            assert!((confirmed.ratio - 0.75).abs() < 0.04, "{}", confirmed.ratio);
            assert!(fake.now_s() <= 121.0, "{} s", fake.now_s());
        }
    }

    #[test]
    fn when_nothing_helps_nothing_wins() {
        let wrong = (0..100)
            .filter(|&seed| {
                race(&mut Fake::new(&[0.2; 10], 0.05, seed), seed)
                    .winner
                    .is_some()
            })
            .count();
        assert!(wrong <= 2, "{wrong} of 100 races without any gain had a winner");
    }

    #[test]
    fn a_fast_and_fat_one_is_refused_and_the_lean_one_wins() {
        let mut fake = Fake::new(&[0.2, 0.2, 0.1, 0.15], 0.02, 1);
        fake.rss[2] = 3e8;
        let outcome = race(&mut fake, 1);
        assert!(
            matches!(&outcome.fates[0], Some(Fate::Guarded(why)) if why.contains("3.00 ×")),
            "{:?}",
            outcome.fates
        );
        assert_eq!(outcome.winner, Some(3));
    }

    #[test]
    fn a_fat_one_that_is_lean_in_some_runs_is_refused_too() {
        for seed in 0..20 {
            let mut fake = Fake::new(&[0.2, 0.2, 0.1, 0.15], 0.02, seed);
            fake.rss[2] = 3e8;
            fake.lean = 0.1;
            let outcome = race(&mut fake, seed);
            assert!(
                matches!(&outcome.fates[0], Some(Fate::Guarded(_))),
                "seed {seed}: {:?}",
                outcome.fates
            );
        }
    }

    #[test]
    fn a_few_pages_more_of_a_small_program_are_not_refused() {
        let mut fake = Fake::new(&[0.2, 0.2, 0.1], 0.02, 1);
        fake.rss = vec![1.5e6, 1.5e6, 4.5e6];
        assert_eq!(race(&mut fake, 1).winner, Some(2));
    }

    #[test]
    fn a_broken_candidate_leaves_and_a_broken_baseline_ends_it() {
        let mut fake = Fake::new(&[0.2, 0.2, 0.1, 0.15], 0.02, 1);
        fake.fail_arm = Some(2);
        let outcome = race(&mut fake, 1);
        assert_eq!(outcome.fates[0], Some(Fate::Broken("it failed".to_owned())));
        assert_eq!(outcome.winner, Some(3));
        let mut fake = Fake::new(&[0.2, 0.2, 0.1], 0.02, 1);
        fake.fail_arm = Some(0);
        assert!(matches!(
            race(&mut fake, 1).stop,
            Some(Stop::Failed { arm: 0, .. })
        ));
    }

    #[test]
    fn no_candidates_is_a_short_race() {
        let outcome = race(&mut Fake::new(&[0.2, 0.2], 0.02, 1), 1);
        assert!(outcome.winner.is_none() && outcome.blocks.is_empty());
    }
}

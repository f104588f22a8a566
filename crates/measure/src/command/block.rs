//! One block: every arm once, in an order drawn at random, all with the same environment padding.
//!
//! Two programs timed one after the other differ by what the machine did meanwhile. Runs of one block share it, and
//! what is left falls on each arm alike because the order is drawn.

use record::model::{Block, Entry};
use thiserror::Error;

use crate::schedule::MAX_PADDING;

/// Why a block did not end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stop {
    /// The user wants to stop.
    #[error("finish: interrupted")]
    Interrupted,
    /// A command failed.
    #[error("run {name}: {reason}")]
    Failed {
        /// Index of the arm.
        arm: usize,
        /// Its name.
        name: String,
        /// What happened.
        reason: String,
    },
}

/// Runs one arm once. A real one starts a process; a fake one draws from a known distribution.
pub trait ArmRunner {
    /// Runs the arm with so many bytes of padding in its environment. The runner fills everything of the entry but
    /// its position.
    ///
    /// # Errors
    /// [`Stop`] when there is no entry to be had.
    fn run(&mut self, arm: usize, padding: usize) -> Result<Entry, Stop>;

    /// Time since an arbitrary start, in seconds; budgets are counted with it.
    fn now_s(&mut self) -> f64;
}

/// Runs every arm of `arms` once.
///
/// # Errors
/// The first [`Stop`]; what the block had so far is of no use, since it lacks a pair.
pub fn run(
    runner: &mut dyn ArmRunner,
    arms: &[usize],
    index: u32,
    stage: &str,
    seed: u64,
) -> Result<Block, Stop> {
    let mut random = fastrand::Rng::with_seed(seed);
    let padding = random.usize(0..MAX_PADDING);
    let mut order = arms.to_vec();
    random.shuffle(&mut order);
    let mut entries = Vec::with_capacity(order.len());
    for (position, arm) in order.into_iter().enumerate() {
        entries.push(Entry {
            position,
            ..runner.run(arm, padding)?
        });
    }
    Ok(Block {
        index,
        seed,
        stage: stage.to_owned(),
        entries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::fake::Fake;

    #[test]
    fn every_arm_runs_once_and_the_seed_repeats_the_order() {
        let order = |seed| {
            let mut fake = Fake::new(&[1.0, 1.0, 1.0, 1.0], 0.0, 1);
            let block = run(&mut fake, &[0, 1, 2, 3], 0, "measure", seed).unwrap();
            block.entries.iter().map(|entry| entry.arm).collect::<Vec<_>>()
        };
        let mut sorted = order(7);
        assert_eq!(order(7), sorted);
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3]);
        let different = (0..20).map(order).collect::<std::collections::HashSet<_>>().len();
        assert!(different > 5, "{different} orders in 20 draws");
    }
}

//! The same load many times.

use std::time::{Duration, Instant};

use super::{Loaded, Plan, Refused, Times, walk};

/// What came out of repeated loads.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The last load; all had the same result.
    pub loaded: Loaded,
    /// The times of each, in order.
    pub times: Vec<Times>,
}

impl Samples {
    /// The one with the smallest total: the article quotes the fastest of 30.
    #[must_use]
    pub fn fastest(&self) -> Times {
        self.times
            .iter()
            .copied()
            .min_by_key(|times| times.total)
            .unwrap_or_default()
    }
}

impl Plan<'_> {
    /// As [`Plan::load`], in the memory of an earlier load when there is one: to measure loading and not the system's making of memory.
    ///
    /// # Errors
    /// As [`Plan::load`].
    pub fn load_into(&self, earlier: Option<Loaded>) -> Result<Loaded, Refused> {
        // In load order from the end, since buffers are taken from there.
        let modules = earlier.map(|loaded| loaded.modules).unwrap_or_default();
        walk::load(
            self,
            modules.into_iter().rev().map(|module| module.image).collect(),
        )
    }

    /// Loads up to `count` times, at least once, and stops before that when `limit` is over. A first load that is not among the
    /// samples brings the memory, which the others use again. Each result is compared with the first.
    ///
    /// # Errors
    /// As [`Plan::load`]; also when two results differ.
    pub fn repeat(&self, count: usize, limit: Duration) -> Result<Samples, Refused> {
        let start = Instant::now();
        let mut loaded = self.load()?;
        let (fingerprint, counts) = (loaded.fingerprint(), loaded.counts);
        let mut times = Vec::new();
        while times.is_empty() || (times.len() < count && start.elapsed() < limit) {
            loaded = self.load_into(Some(loaded))?;
            if loaded.counts != counts || loaded.fingerprint() != fingerprint {
                return Err(Refused::Unstable);
            }
            times.push(loaded.times);
        }
        Ok(Samples { loaded, times })
    }
}

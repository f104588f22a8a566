//! The proof by simulation: how often does each rule err when the truth is known?
//!
//! A guarantee on paper holds for the paper's rule. What matters is the rule as it stands in the code, fed
//! with the kind of data that machines produce and looked at after every block. So every rule here is run on
//! thousands of artificial sessions ([`noise`]) in which nothing differs, or in which the difference is
//! exactly what the rule must not overlook, and its errors are counted. A rule promises at most α;
//! [`Row::holds`] allows for the chance in the count itself.
//!
//! Some combinations lie outside a rule's promise (lopsided noise and a rule for symmetric noise). They are
//! computed too and marked, because a limit that is known in figures is worth more than one in words.

pub mod arms;
pub mod noise;
pub mod power;
pub mod rules;

/// How often one rule erred on one kind of data.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The rule, and what counts as its error.
    pub rule: &'static str,
    /// The kind of data.
    pub data: &'static str,
    /// The error rate that the rule promises not to exceed.
    pub alpha: f64,
    /// The share of simulated sessions in which it erred (for false discoveries: the mean share of them).
    pub error: f64,
    /// How many sessions were simulated.
    pub n: usize,
    /// False when the data break the rule's stated assumption, so that no promise is at stake.
    pub promised: bool,
}

impl Row {
    /// The largest error rate that `n` simulations of a rule at exactly α would show, three standard
    /// deviations up.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.alpha + 3.0 * (self.alpha * (1.0 - self.alpha) / self.n.max(1) as f64).sqrt()
    }

    /// True when the count does not contradict the promise, or there is none.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.promised || self.error <= self.limit()
    }
}

/// Every rule on every kind of data, `sessions` times each, reproducible from `seed`.
///
/// 10,000 sessions take about a minute and a half on one CPU when optimised.
#[must_use]
pub fn all(sessions: usize, seed: u64) -> Vec<Row> {
    let mut rows = rules::fixed_size(sessions, seed);
    rows.extend(rules::watched(sessions, seed));
    rows.extend(arms::all(sessions, seed));
    rows
}

/// The share of `sessions` in which `errs` is true, each with a generator of its own.
fn share(sessions: usize, seed: u64, mut errs: impl FnMut(&mut fastrand::Rng) -> bool) -> f64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let errors = (0..sessions).filter(|_| errs(&mut random.fork())).count();
    errors as f64 / sessions.max(1) as f64
}

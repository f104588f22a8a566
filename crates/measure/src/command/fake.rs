//! Commands with known truths, for tests: each arm's time is its true mean times noise.

use record::model::{CommandMetric, End, Entry};

use super::block::{ArmRunner, Stop};

/// Arms that draw from known distributions instead of running.
#[derive(Debug)]
pub struct Fake {
    /// True wall times in microseconds, one an arm.
    pub truth: Vec<f64>,
    /// Peak resident bytes, one an arm.
    pub rss: Vec<f64>,
    /// Share of the runs in which an arm gets by with the baseline's memory.
    pub lean: f64,
    /// Standard deviation of the log of a time.
    pub noise: f64,
    /// Draws so far fail from this one on, when set.
    pub fail_arm: Option<usize>,
    random: fastrand::Rng,
    now_s: f64,
}

impl Fake {
    /// Arms with these true times in seconds.
    pub fn new(truth: &[f64], noise: f64, seed: u64) -> Self {
        Self {
            truth: truth.to_vec(),
            rss: vec![1e8; truth.len()],
            lean: 0.0,
            noise,
            fail_arm: None,
            random: fastrand::Rng::with_seed(seed),
            now_s: 0.0,
        }
    }

    /// A draw of a heavy-tailed symmetric variable with unit scale.
    fn draw(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0;
        if self.random.f64() < 0.05 { 5.0 * sum } else { sum }
    }
}

impl ArmRunner for Fake {
    fn run(&mut self, arm: usize, _: usize) -> Result<Entry, Stop> {
        if self.fail_arm == Some(arm) {
            return Err(Stop::Failed {
                arm,
                name: format!("arm {arm}"),
                reason: "it failed".to_owned(),
            });
        }
        let seconds = self.truth[arm] * (self.noise * self.draw()).exp();
        self.now_s += seconds;
        let lean = self.lean > 0.0 && self.random.f64() < self.lean;
        let values = vec![
            (CommandMetric::ToExit, 1e6 * seconds),
            (CommandMetric::PeakRss, self.rss[if lean { 0 } else { arm }]),
            (CommandMetric::MajorFaults, 0.0),
        ];
        Ok(Entry {
            arm,
            position: 0,
            end: End::Exited(0),
            values,
            peak_rss_is_upper_bound: false,
            strays: 0,
        })
    }

    fn now_s(&mut self) -> f64 {
        self.now_s
    }
}

//! Artificial sessions: what log ratios look like on machines that are noisy in different ways.
//!
//! Most kinds imitate the experiment itself: two runs per block, each the logarithm of a time, in an order
//! drawn by a coin, and the difference candidate minus baseline. With no true effect such a difference is
//! symmetric whatever the noise, as on a real machine.

use fastrand::Rng;

/// A kind of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Normal.
    Normal,
    /// Student's t with 3 degrees of freedom: heavy tails.
    HeavyTails,
    /// Normal, but one run in fifty takes a hundred times as long.
    Outliers,
    /// Normal, rounded so coarsely that most differences are 0.
    Ties,
    /// Always the same value, but for one run in twenty-five that is a step higher.
    RareSteps,
    /// Two speeds, chosen by a coin for each run, and little noise within each.
    Bimodal,
    /// Slow waves and a trend through the session, far larger than the noise.
    Drift,
    /// Lopsided: the candidate has a tail that the baseline lacks, and the medians are equal.
    Lopsided,
    /// The same, but the median of pairwise averages is zero and so the median below it.
    LopsidedCentred,
}

impl Noise {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Normal,
        Self::HeavyTails,
        Self::Outliers,
        Self::Ties,
        Self::RareSteps,
        Self::Bimodal,
        Self::Drift,
        Self::Lopsided,
        Self::LopsidedCentred,
    ];

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::HeavyTails => "heavy tails (t, 3 df)",
            Self::Outliers => "one run in 50 a hundredfold",
            Self::Ties => "mostly ties",
            Self::RareSteps => "constant, rare steps",
            Self::Bimodal => "two speeds",
            Self::Drift => "drift and waves",
            Self::Lopsided => "lopsided, median 0",
            Self::LopsidedCentred => "lopsided, Hodges-Lehmann centre 0",
        }
    }

    /// True when differences are symmetric about the effect, as exchangeable arms make them.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::Lopsided | Self::LopsidedCentred)
    }

    /// True when the median of the differences is the effect.
    #[must_use]
    pub fn has_median_zero(self) -> bool {
        self != Self::LopsidedCentred
    }
}

/// One session: a source of log ratios with a known truth.
#[derive(Debug)]
pub struct Session<'a> {
    noise: Noise,
    /// The size of the noise of a *pair*: its standard deviation where that exists and means anything.
    scale: f64,
    /// The true log ratio.
    effect: f64,
    random: &'a mut Rng,
    /// Where in the session we are, in runs.
    run: u32,
    /// Where the waves of [`Noise::Drift`] begin.
    phase: f64,
}

impl<'a> Session<'a> {
    /// A session with this `noise`, whose pairs have about the standard deviation `scale`, around a true log
    /// ratio `effect`.
    pub fn new(noise: Noise, scale: f64, effect: f64, random: &'a mut Rng) -> Self {
        let phase = random.f64();
        Self {
            noise,
            scale,
            effect,
            random,
            run: 0,
            phase,
        }
    }

    /// The log ratio of the next block.
    pub fn block(&mut self) -> f64 {
        /// Half the median of a gamma variable of shape 2: the centre of the pairwise averages of exponential
        /// variables.
        const EXPONENTIAL_CENTRE: f64 = 0.839_173_495_008;
        let tail = match self.noise {
            Noise::Lopsided => Some(std::f64::consts::LN_2),
            Noise::LopsidedCentred => Some(EXPONENTIAL_CENTRE),
            _ => None,
        };
        if let Some(centre) = tail {
            return self.effect + self.scale * (exponential(self.random) - centre);
        }
        let first = self.run();
        let second = self.run();
        let difference = if self.random.bool() {
            first - second
        } else {
            second - first
        };
        self.effect + difference
    }

    /// The logarithm of the time of one run without any effect.
    fn run(&mut self) -> f64 {
        self.run += 1;
        let single = self.scale / std::f64::consts::SQRT_2;
        let normal = normal(self.random);
        match self.noise {
            Noise::Normal | Noise::Lopsided | Noise::LopsidedCentred => single * normal,
            Noise::HeavyTails => {
                let squares: f64 = (0..3).map(|_| self::normal(self.random).powi(2)).sum();
                single * normal / (squares / 3.0).sqrt()
            }
            Noise::Outliers => {
                let late = if self.random.u32(..50) == 0 {
                    100.0_f64.ln()
                } else {
                    0.0
                };
                single * normal + late
            }
            Noise::Ties => (0.5 * normal).round() * single,
            Noise::RareSteps => {
                if self.random.u32(..25) == 0 {
                    single
                } else {
                    0.0
                }
            }
            Noise::Bimodal => single * (if self.random.bool() { 1.0 } else { -1.0 } + 0.1 * normal),
            Noise::Drift => {
                let time = f64::from(self.run);
                // A period near one block is the nastiest: with a fixed order it would look like an effect.
                let wave = (std::f64::consts::TAU * (self.phase + time / 4.3)).sin();
                single * (normal + 3.0 * wave + 0.05 * time)
            }
        }
    }
}

/// A standard normal variable (Box and Muller 1958).
pub(crate) fn normal(random: &mut Rng) -> f64 {
    (2.0 * exponential(random)).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// An exponential variable of mean 1.
fn exponential(random: &mut Rng) -> f64 {
    -(-random.f64()).ln_1p()
}

//! The pair of bets that [`crate::symmetric`] places against one value, and what they have become.

/// Differences of this many scales and more count alike. About 1.35 standard deviations of normal noise.
const CUT: f64 = 2.0;

/// The stakes and their weights. The smallest is for effects far below the noise and keeps the interval
/// shrinking after hundreds of blocks; the others decide within sixty.
const STAKES: [(f64, f64); 4] = [(2.0, 0.3), (1.0, 0.3), (0.5, 0.3), (0.125, 0.1)];

/// One difference and the scale that its bets are made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub d: f64,
    pub scale: f64,
}

impl Round {
    /// The z of a bet on "greater than `m`", from −1 to 1; `None` when it cannot be known.
    fn score(self, m: f64) -> Option<f64> {
        let distance = self.d - m;
        if distance.is_nan() {
            None
        } else if distance == 0.0 {
            Some(0.0)
        } else if self.scale == 0.0 {
            Some(distance.signum())
        } else {
            Some((distance / (CUT * self.scale)).clamp(-1.0, 1.0))
        }
    }
}

/// Logarithms of the fortunes of the two bets against one value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LnFortunes {
    pub less: f64,
    pub greater: f64,
}

/// How many rounds are multiplied before a logarithm is taken. One factor lies between 0.03 and 2, so the
/// product of 64 is far from leaving the doubles.
const ROUNDS_PER_LOGARITHM: u32 = 64;

/// The bets against "the centre is `m`", one on less and one on greater, round by round.
#[derive(Debug, Clone)]
pub(crate) struct Bets {
    m: f64,
    less: [Fortune; STAKES.len()],
    greater: [Fortune; STAKES.len()],
    since_logarithm: u32,
}

/// What one stake has become: exp(`log`) · `factor`.
#[derive(Debug, Clone, Copy)]
struct Fortune {
    log: f64,
    factor: f64,
}

impl Bets {
    /// A fresh pair of bets.
    pub fn against(m: f64) -> Self {
        let start = STAKES.map(|(_, weight)| Fortune {
            log: weight.ln(),
            factor: 1.0,
        });
        Self {
            m,
            less: start,
            greater: start,
            since_logarithm: 0,
        }
    }

    /// Plays one round.
    pub fn play(&mut self, round: Round) {
        let score = round.score(self.m);
        for (i, (stake, _)) in STAKES.into_iter().enumerate() {
            // exp(λz)/cosh(λz), written with one exponential.
            let wins = |z: f64| 2.0 / (1.0 + (-2.0 * stake * z).exp());
            let (less, greater) = match score {
                // Either may have lost: both do.
                None => (wins(-1.0), wins(-1.0)),
                // The coin is fair, so the two factors add up to 2.
                Some(z) => (2.0 - wins(z), wins(z)),
            };
            self.less[i].factor *= less;
            self.greater[i].factor *= greater;
        }
        self.since_logarithm += 1;
        if self.since_logarithm == ROUNDS_PER_LOGARITHM {
            self.since_logarithm = 0;
            for fortune in self.less.iter_mut().chain(&mut self.greater) {
                fortune.log += fortune.factor.ln();
                fortune.factor = 1.0;
            }
        }
    }

    /// What the bets have become, all stakes together.
    pub fn ln_fortunes(&self) -> LnFortunes {
        LnFortunes {
            less: ln_sum(&self.less),
            greater: ln_sum(&self.greater),
        }
    }
}

/// The logarithm of the sum, safe against overflow.
fn ln_sum(fortunes: &[Fortune; STAKES.len()]) -> f64 {
    let largest = fortunes.iter().map(|f| f.log).fold(f64::NEG_INFINITY, f64::max);
    largest
        + fortunes
            .iter()
            .map(|f| (f.log - largest).exp() * f.factor)
            .sum::<f64>()
            .ln()
}

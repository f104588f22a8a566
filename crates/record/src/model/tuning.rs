//! What `tune` found: the fate of every remedy, and the winner if there is one.

use super::advice::Warning;
use super::command::{Comparison, NoiseFloor, Session};

/// How far a remedy came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneArmState {
    /// It does not apply to this program; the reason says why.
    NotApplicable,
    /// The smoke test failed: not in effect, other output, other exit status.
    Refused,
    /// It left the race: another was better, or it was slower than the baseline.
    Dropped,
    /// It stayed to the end of the race.
    Raced,
    /// It won and a guard refused it.
    Guarded,
    /// It won, and fresh blocks confirmed it.
    Winner,
}

impl TuneArmState {
    /// Every state, from the first to the last that a remedy can reach.
    pub const ALL: [Self; 6] = [
        Self::NotApplicable,
        Self::Refused,
        Self::Dropped,
        Self::Raced,
        Self::Guarded,
        Self::Winner,
    ];

    /// The word in JSON and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotApplicable => "not_applicable",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
            Self::Raced => "raced",
            Self::Guarded => "guarded",
            Self::Winner => "winner",
        }
    }

    /// The state of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// One remedy and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneArm {
    /// The remedy as the user would write it: `heap=mimalloc`, `glibc.malloc.arena_max=1`.
    pub remedy: String,
    /// Index in [`Session::arms`]; none when it never ran.
    pub arm: Option<usize>,
    /// How far it came.
    pub state: TuneArmState,
    /// Why it did not apply, was refused or was guarded.
    pub reason: Option<String>,
    /// Proof that it was in effect in the smoke test; none when it never ran.
    pub in_effect: Option<bool>,
    /// Exit status and output were those of the baseline; none when never compared.
    pub output_identical: Option<bool>,
    /// Effect on the goal, when it ran.
    pub effect: Option<Comparison>,
    /// Effects on the other metrics.
    pub also: Vec<Comparison>,
    /// How many timed runs it got.
    pub runs: usize,
}

/// The result of `tune`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// The user's command.
    pub command: Vec<String>,
    /// `wall`, `cpu` or `rss`.
    pub goal: String,
    /// The baseline against itself.
    pub noise_floor: Option<NoiseFloor>,
    /// Every remedy of the registry, also those that do not apply.
    pub arms: Vec<TuneArm>,
    /// The remedy that won and was confirmed; none when nothing helps.
    pub winner: Option<String>,
    /// The winner against the baseline on fresh blocks: the figure to report.
    pub confirmed: Option<Comparison>,
    /// One plain sentence.
    pub sentence: String,
    /// The blocks.
    pub session: Session,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}

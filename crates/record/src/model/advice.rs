//! Saying no well: what cannot be done here, and what may be wrong with what was done.

/// Whether something can be done on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot; the text gives the reason and the setting that would change it.
    No(String),
}

impl Support {
    /// True for [`Support::Yes`].
    #[must_use]
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// The reason of a no.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes => None,
            Self::No(reason) => Some(reason),
        }
    }
}

/// A case that was asked for and could not run here: a row with a reason, never a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The case's name, or the benchmark's when no case could be formed.
    pub case: String,
    /// Why, and which setting would change it.
    pub reason: String,
}

/// Something the reader must know to judge a figure, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A stable short name, for example `busy-machine`.
    pub code: String,
    /// What was seen, and what to do.
    pub advice: String,
}

impl Warning {
    /// A warning from its code and its advice.
    #[must_use]
    pub fn new(code: &str, advice: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            advice: advice.into(),
        }
    }
}

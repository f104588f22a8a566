//! Parameters of benchmarks: what can be varied, by what name, within which bounds.

use std::fmt;

use thiserror::Error;

use crate::list::{self, ListError};

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers from `min` to `max`, both included.
    Number {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Integers as above, or the word `auto`: the kernel chooses.
    NumberOrAuto {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// One axis along which a benchmark can be varied.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name on the command line and in a case's name.
    pub name: &'static str,
    /// Default, as the user would write it; may be a list.
    pub default: &'static str,
    /// Unit of numbers, empty for plain counts.
    pub unit: &'static str,
    /// What it means, in half a sentence.
    pub summary: &'static str,
    /// The values that it takes.
    pub kind: Kind,
}

/// One value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An integer.
    Number(u64),
    /// A word.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// Why a parameter's text cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// The list is malformed.
    #[error("set {0}: failed to {1}")]
    List(String, ListError),
    /// A number lies outside of the bounds.
    #[error("set {name}: {value} lies outside of {min} to {max}")]
    Range {
        /// The parameter.
        name: String,
        /// The value given.
        value: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A word is none of the known ones.
    #[error("set {name}: {word:?} is not one of {known}")]
    Word {
        /// The parameter.
        name: String,
        /// The word given.
        word: String,
        /// Those that there are.
        known: String,
    },
}

impl Parameter {
    /// The values of a text: a list of numbers, or words joined with `+`.
    ///
    /// # Errors
    /// [`ParameterError`] says what is wrong and what would be right.
    pub fn values(&self, text: &str) -> Result<Vec<Value>, ParameterError> {
        match self.kind {
            Kind::Number { min, max } => self.numbers(text, min, max),
            Kind::NumberOrAuto { min, max } => {
                if text == "auto" {
                    return Ok(vec![Value::Word("auto".to_owned())]);
                }
                self.numbers(text, min, max)
            }
            Kind::Word(known) => text
                .split('+')
                .map(|word| {
                    if known.contains(&word) {
                        return Ok(Value::Word(word.to_owned()));
                    }
                    Err(ParameterError::Word {
                        name: self.name.to_owned(),
                        word: word.to_owned(),
                        known: known.join(", "),
                    })
                })
                .collect(),
        }
    }

    fn numbers(&self, text: &str, min: u64, max: u64) -> Result<Vec<Value>, ParameterError> {
        let numbers = list::parse(text).map_err(|error| ParameterError::List(self.name.to_owned(), error))?;
        match numbers.iter().find(|value| !(min..=max).contains(value)) {
            Some(&value) => Err(ParameterError::Range {
                name: self.name.to_owned(),
                value,
                min,
                max,
            }),
            None => Ok(numbers.into_iter().map(Value::Number).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: Parameter = Parameter {
        name: "threads",
        default: "1",
        unit: "",
        summary: "threads",
        kind: Kind::Number { min: 1, max: 64 },
    };

    #[test]
    fn bounds_are_kept() {
        assert_eq!(
            THREADS.values("1,2").unwrap(),
            [Value::Number(1), Value::Number(2)]
        );
        assert_eq!(
            THREADS.values("0").unwrap_err().to_string(),
            "set threads: 0 lies outside of 1 to 64"
        );
        assert!(
            THREADS
                .values("2x")
                .unwrap_err()
                .to_string()
                .contains("position 2")
        );
    }

    #[test]
    fn words_and_auto_are_told_apart() {
        let count = Parameter {
            name: "count",
            kind: Kind::NumberOrAuto { min: 0, max: 9 },
            ..THREADS
        };
        assert_eq!(count.values("auto").unwrap(), [Value::Word("auto".into())]);
        assert_eq!(count.values("3").unwrap(), [Value::Number(3)]);
        let order = Parameter {
            name: "order",
            kind: Kind::Word(&["up", "down"]),
            ..THREADS
        };
        assert_eq!(order.values("up+down").unwrap().len(), 2);
        assert!(order.values("left").unwrap_err().to_string().contains("up, down"));
    }
}

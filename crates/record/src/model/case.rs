//! A case: one benchmark, one value of each of its parameters, one subject.
//!
//! Its name is the key under which figures of different runs and machines meet, so it is canonical:
//! `heap/heaptest/threads=2,max_size=2048@system`. Every parameter is present, in the order in which
//! the benchmark declares them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A benchmark with its parameter values and its subject; see the module for the spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// The suite's name, for example `heap`.
    pub suite: String,
    /// The benchmark's name within its suite, for example `heaptest`.
    pub benchmark: String,
    /// Every parameter with its one value, in the benchmark's own order.
    pub parameters: Vec<(String, String)>,
    /// What is under test, for example `system`.
    pub subject: String,
}

/// Why a text is not a case's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseError {
    /// One of the four parts is missing or empty.
    #[error(
        "read case name {0:?}: it has no {1}; a right one is heap/heaptest/threads=2,max_size=2048@system"
    )]
    Missing(String, &'static str),
    /// A parameter is not `name=value`.
    #[error("read case name {0:?}: {1:?} is not name=value")]
    Parameter(String, String),
}

impl Case {
    /// The value of one parameter, if the case has it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// `suite/benchmark`, the name under which `list` shows it.
    #[must_use]
    pub fn full_benchmark(&self) -> String {
        format!("{}/{}", self.suite, self.benchmark)
    }

    /// The parameters as they stand in the name: `threads=2,max_size=2048`.
    #[must_use]
    pub fn parameter_text(&self) -> String {
        self.parameters
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(",")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}@{}",
            self.suite,
            self.benchmark,
            self.parameter_text(),
            self.subject
        )
    }
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Self, CaseError> {
        let missing = |part| CaseError::Missing(text.to_owned(), part);
        let (head, subject) = text.rsplit_once('@').ok_or_else(|| missing("subject after @"))?;
        let mut parts = head.splitn(3, '/');
        let suite = parts
            .next()
            .filter(|s| !s.is_empty())
            .ok_or_else(|| missing("suite"))?;
        let benchmark = parts
            .next()
            .filter(|s| !s.is_empty())
            .ok_or_else(|| missing("benchmark"))?;
        let list = parts.next().ok_or_else(|| missing("parameter part"))?;
        if subject.is_empty() {
            return Err(missing("subject after @"));
        }
        let parameters = list
            .split(',')
            .filter(|item| !item.is_empty())
            .map(|item| match item.split_once('=') {
                Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
                _ => Err(CaseError::Parameter(text.to_owned(), item.to_owned())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            suite: suite.to_owned(),
            benchmark: benchmark.to_owned(),
            parameters,
            subject: subject.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_the_round_trip() {
        let name = "heap/heaptest/threads=2,max_size=2048@system";
        let case: Case = name.parse().unwrap();
        assert_eq!(case.parameter("max_size"), Some("2048"));
        assert_eq!(case.full_benchmark(), "heap/heaptest");
        assert_eq!(case.to_string(), name);
    }

    #[test]
    fn a_benchmark_without_parameters_has_an_empty_part() {
        let case: Case = "sync/none/@system".parse().unwrap();
        assert!(case.parameters.is_empty());
        assert_eq!(case.to_string(), "sync/none/@system");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(
            "heap".parse::<Case>(),
            Err(CaseError::Missing("heap".into(), "subject after @"))
        );
        assert!(
            "heap/x/threads@y"
                .parse::<Case>()
                .unwrap_err()
                .to_string()
                .contains("\"threads\" is not name=value")
        );
    }
}

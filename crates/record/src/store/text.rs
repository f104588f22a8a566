//! Small values as they stand in columns: lists of words, seeds, numbers that may be missing.

use crate::model::{ArmKind, End};

/// A list of words as a JSON array.
pub(super) fn words(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}

/// The list of words in a JSON array; an error text when it is none.
pub(super) fn parse_words(text: &str) -> Result<Vec<String>, String> {
    serde_json::from_str(text).map_err(|error| format!("{text:.60?} is not a list of words: {error}"))
}

/// Names with values as a JSON array of pairs; an object would not keep an order.
pub(super) fn pairs(pairs: &[(String, String)]) -> String {
    let rows: Vec<Vec<&str>> = pairs
        .iter()
        .map(|(name, value)| vec![name.as_str(), value.as_str()])
        .collect();
    serde_json::Value::from(rows).to_string()
}

/// The pairs in a JSON array; an error text when it holds none.
pub(super) fn parse_pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    serde_json::from_str(text).map_err(|error| format!("{text:.60?} is not a list of pairs: {error}"))
}

/// The 64 bits of a seed in a signed column.
pub(super) fn seed(seed: u64) -> i64 {
    seed.cast_signed()
}

/// The seed in a signed column.
pub(super) fn parse_seed(column: i64) -> u64 {
    column.cast_unsigned()
}

/// How a command ended, as a word and a number.
pub(super) fn end(end: End) -> (&'static str, i64) {
    match end {
        End::Exited(status) => ("exited", status),
        End::Signaled(signal) => ("signaled", signal.into()),
        End::TimedOut => ("timed_out", 0),
        End::Stopped => ("stopped", 0),
    }
}

/// How a command ended, from a word and a number.
pub(super) fn parse_end(word: &str, code: i64) -> Result<End, String> {
    match (word, i32::try_from(code)) {
        ("exited", _) => Ok(End::Exited(code)),
        ("signaled", Ok(signal)) => Ok(End::Signaled(signal)),
        ("timed_out", _) => Ok(End::TimedOut),
        ("stopped", _) => Ok(End::Stopped),
        _ => Err(format!("{word:.60?} with code {code} is no end of a command")),
    }
}

/// The word of an arm's part.
pub(super) fn arm_kind(kind: ArmKind) -> &'static str {
    match kind {
        ArmKind::Baseline => "baseline",
        ArmKind::Again => "again",
        ArmKind::Candidate => "candidate",
    }
}

/// An arm's part from its word.
pub(super) fn parse_arm_kind(word: &str) -> Result<ArmKind, String> {
    let kinds = [ArmKind::Baseline, ArmKind::Again, ArmKind::Candidate];
    kinds
        .into_iter()
        .find(|kind| arm_kind(*kind) == word)
        .ok_or_else(|| format!("{word:.60?} is no kind of arm"))
}

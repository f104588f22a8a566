//! What can be wrong with a text of rules.

use core::fmt;

/// A fault in a text of rules and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The byte of the text, counted from 0, at which the fault begins.
    pub position: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The rule has no `=`.
    NoHeap,
    /// Nothing stands before the `=`.
    EmptyPattern,
    /// Nothing stands after the `=`.
    EmptyHeap,
    /// Two heaps stand in one rule, so the `;` between two rules is missing.
    TwoHeaps,
    /// The heap is none of [`Heap::ALL`](crate::Heap::ALL).
    UnknownHeap,
    /// The text contains a zero byte, which neither an environment variable nor a path can.
    ZeroByte,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoHeap => "the rule has no '=' between a pattern and a heap",
            Self::EmptyPattern => "the pattern before '=' is empty",
            Self::EmptyHeap => "the heap after '=' is missing",
            Self::TwoHeaps => "the rule names two heaps; rules are separated by ';'",
            Self::UnknownHeap => "the heap is not one of system, mimalloc, jemalloc, snmalloc",
            Self::ZeroByte => "the text contains a zero byte",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, fault } = self;
        write!(
            formatter,
            "read the heap rules at position {}: {fault}; write, for example, '*=mimalloc;/usr/bin/buggy=system'",
            position + 1,
        )
    }
}

impl core::error::Error for Error {}

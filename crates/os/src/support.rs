//! The two systems do not offer the same facts. A figure that cannot be had must not turn into a zero
//! that looks like a measurement, nor into an error that stops the run: it is *unsupported*, with a
//! reason that a person can act on. Every topic of this crate says "no" in this one form.

use std::borrow::Cow;

/// Why something cannot be had on this machine, for this user, or on this operating system.
///
/// The reason is a fragment without a capital or a full stop, so that it reads well behind a colon.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{reason}")]
pub struct Unsupported {
    reason: Cow<'static, str>,
}

impl Unsupported {
    /// Creates the answer "no, because `reason`".
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason: reason.into(),
        }
    }

    /// The reason alone.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A field of a record of readings that holds nothing here, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The name of the field as it is written in the record.
    pub field: &'static str,
    /// Why the field is `None`.
    pub reason: Unsupported,
}

impl Gap {
    /// Names a field that is empty and says why.
    pub fn new(field: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            field,
            reason: Unsupported::new(reason),
        }
    }
}

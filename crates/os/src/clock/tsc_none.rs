//! Processors without a time-stamp counter that we know how to trust: the system's clock is used.

/// Never chosen, because [`keeps_time`] refuses; defined so that the callers need no conditions.
#[inline]
pub(super) fn now() -> u64 {
    0
}

/// Always the reason for "no".
pub(super) fn keeps_time() -> Result<(), &'static str> {
    Err("this kind of processor has no time-stamp counter that this program reads")
}

//! The console takes UTF-16 from Rust's standard library.

pub(super) fn unicode() -> bool {
    true
}

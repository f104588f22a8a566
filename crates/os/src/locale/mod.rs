//! Whether the user's terminal shows more than ASCII.
//!
//! Contract of the platform files: [`unicode`] reads settings only, and answers `false` when in doubt.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

/// True when text may have characters outside of ASCII.
///
/// Linux: the character set of the locale, from LC_ALL, LC_CTYPE, LANG, the first that is set (locale(7)). Windows: always, since the
/// console takes UTF-16 whatever its code page.
#[must_use]
pub fn unicode() -> bool {
    imp::unicode()
}

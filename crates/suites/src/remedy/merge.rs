//! Adding to variables that may be set already.
//!
//! Whoever starts a program with `LD_PRELOAD` or `GLIBC_TUNABLES` set had a reason; a remedy must not undo it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// `LD_PRELOAD` with these libraries in front: the first library that has a function wins, so a heap has to
/// stand before all others.
pub fn preload(libraries: &[&PathBuf], current: Option<OsString>) -> OsString {
    let mut list = libraries
        .iter()
        .map(|library| library.as_os_str())
        .collect::<Vec<_>>()
        .join(OsStr::new(":"));
    if let Some(current) = current.filter(|current| !current.is_empty()) {
        if current.as_encoded_bytes() == list.as_encoded_bytes()
            || current
                .as_encoded_bytes()
                .starts_with(&[list.as_encoded_bytes(), b":"].concat())
        {
            return current;
        }
        list.push(":");
        list.push(current);
    }
    list
}

/// `GLIBC_TUNABLES` with these settings at its end and older values of the same tunables removed.
pub fn tunables(settings: &[(&str, &str)], current: Option<OsString>) -> OsString {
    // The loader knows ASCII names only; what is not text there is none of its settings.
    let current = current.unwrap_or_default().to_string_lossy().into_owned();
    let kept = current.split(':').filter(|setting| {
        let name = setting.split_once('=').map_or(*setting, |(name, _)| name);
        !setting.is_empty() && settings.iter().all(|(ours, _)| *ours != name)
    });
    let ours = settings.iter().map(|(name, value)| format!("{name}={value}"));
    kept.map(str::to_owned)
        .chain(ours)
        .collect::<Vec<_>>()
        .join(":")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_goes_in_front_of_what_is_preloaded() {
        let library = PathBuf::from("/lib/heap.so");
        let merged = |current: Option<&str>| preload(&[&library], current.map(Into::into));
        assert_eq!(merged(None), "/lib/heap.so");
        assert_eq!(merged(Some("")), "/lib/heap.so");
        assert_eq!(merged(Some("/lib/other.so")), "/lib/heap.so:/lib/other.so");
        assert_eq!(merged(Some("a.so b.so")), "/lib/heap.so:a.so b.so");
        assert_eq!(merged(Some("/lib/heap.so")), "/lib/heap.so");
        assert_eq!(merged(Some("/lib/heap.so:b.so")), "/lib/heap.so:b.so");
        assert_eq!(merged(Some("/lib/heap.so.2")), "/lib/heap.so:/lib/heap.so.2");
    }

    #[test]
    fn a_tunable_replaces_its_older_value_only() {
        let merged =
            |current: Option<&str>| tunables(&[("glibc.a", "1"), ("glibc.b", "2")], current.map(Into::into));
        assert_eq!(merged(None), "glibc.a=1:glibc.b=2");
        assert_eq!(merged(Some("glibc.c=3")), "glibc.c=3:glibc.a=1:glibc.b=2");
        assert_eq!(
            merged(Some("glibc.b=7:glibc.c=3:glibc.a=")),
            "glibc.c=3:glibc.a=1:glibc.b=2"
        );
        assert_eq!(merged(Some("::glibc.ab=1")), "glibc.ab=1:glibc.a=1:glibc.b=2");
    }
}

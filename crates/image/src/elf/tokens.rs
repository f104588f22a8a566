//! `$ORIGIN`, `$LIB` and `$PLATFORM` in search paths and names of libraries (ld.so(8), "Dynamic string tokens").

use super::search::Loader;

/// A path with its tokens replaced; none where one has no value here, or must not be used: then the loader leaves
/// the whole path out.
///
/// `origin` is the folder of the file that the path stands in. In secure mode it may stand only at the beginning, and
/// for the program (`program`) must lead into the loader's own folders, since whoever starts it may have linked it elsewhere.
pub(super) fn expand(path: &str, origin: &str, program: bool, loader: &Loader) -> Option<String> {
    let mut expanded = String::new();
    let mut rest = path;
    let mut check = false;
    while let Some(at) = rest.find('$') {
        let (before, token) = rest.split_at(at);
        expanded.push_str(before);
        let after = token.get(1..).unwrap_or_default();
        if let Some(end) = named(after, "ORIGIN") {
            let first = expanded.is_empty() && before.is_empty();
            let whole = end.is_empty() || end.starts_with('/');
            if loader.secure && !(first && whole) {
                return None;
            }
            check |= loader.secure && program;
            expanded.push_str(origin);
            rest = end;
        } else if let Some(end) = named(after, "PLATFORM") {
            expanded.push_str(loader.platform.as_deref()?);
            rest = end;
        } else if let Some(end) = named(after, "LIB") {
            expanded.push_str(&loader.library_dir);
            rest = end;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    (!check || trusted(&expanded, loader)).then_some(expanded)
}

/// Whether a text contains a token at all.
pub(super) fn contains(path: &str) -> bool {
    path.match_indices('$').any(|(at, _)| {
        let after = path.get(at + 1..).unwrap_or_default();
        ["ORIGIN", "PLATFORM", "LIB"]
            .iter()
            .any(|name| named(after, name).is_some())
    })
}

/// What follows a token of this name, written plain or in braces. A longer word that begins like it is no token.
fn named<'a>(after: &'a str, name: &str) -> Option<&'a str> {
    if let Some(inside) = after.strip_prefix('{') {
        return inside.strip_prefix(name)?.strip_prefix('}');
    }
    let end = after.strip_prefix(name)?;
    let goes_on = end.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    (!goes_on).then_some(end)
}

/// Whether a path, once its dots are resolved as text, lies below one of the loader's own folders.
fn trusted(path: &str, loader: &Loader) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let normal = format!("/{}/", parts.join("/"));
    path.starts_with('/')
        && loader
            .system_dirs
            .iter()
            .any(|dir| normal.starts_with(&format!("{}/", dir.trim_end_matches('/'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loader(secure: bool) -> Loader {
        Loader {
            secure,
            platform: Some("haswell".to_owned()),
            ..Loader::new(crate::elf::Machine::X86_64)
        }
    }

    #[test]
    fn tokens_are_replaced_plain_and_in_braces() {
        let loader = loader(false);
        for (path, expected) in [
            ("$ORIGIN/../lib", "/opt/a/bin/../lib"),
            ("${ORIGIN}", "/opt/a/bin"),
            ("/x/$LIB/$PLATFORM", "/x/lib/x86_64-linux-gnu/haswell"),
            ("/x/$ORIGINAL/$", "/x/$ORIGINAL/$"),
            ("${ORIGIN", "${ORIGIN"),
            ("/plain", "/plain"),
        ] {
            assert_eq!(
                expand(path, "/opt/a/bin", true, &loader).as_deref(),
                Some(expected)
            );
        }
        assert!(contains("a$LIB") && !contains("a$LIBRARY") && contains("${PLATFORM}"));
        let unknown = Loader {
            platform: None,
            ..loader
        };
        assert_eq!(expand("/x/$PLATFORM", "/", true, &unknown), None);
    }

    #[test]
    fn secure_programs_use_their_origin_only_within_the_systems_folders() {
        let loader = loader(true);
        assert_eq!(expand("$ORIGIN/../lib", "/opt/a/bin", true, &loader), None);
        assert_eq!(expand("/x/$ORIGIN", "/usr/lib/a", true, &loader), None);
        assert_eq!(
            expand("$ORIGIN/x", "/usr/lib/a", true, &loader).as_deref(),
            Some("/usr/lib/a/x")
        );
        assert_eq!(expand("$ORIGIN/../../../tmp", "/usr/lib/a", true, &loader), None);
    }
}

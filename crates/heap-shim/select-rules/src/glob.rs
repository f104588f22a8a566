//! Matching a pattern with `*` and `?`.
//!
//! The textbook matcher calls itself at each `*` and needs exponential time for `*a*a*a*a*b`. But a `*` never has to
//! be extended again once a later `*` has been reached: whatever the earlier one could swallow, the later one can
//! too. So one place to come back to is enough, and the worst case is the product of the two lengths.

/// True when `pattern` matches all of `text`. `*` stands for any bytes, `?` for one.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut at_pattern = 0;
    let mut at_text = 0;
    // The pattern after the last `*`, and where in the text the bytes that this `*` swallowed end.
    let mut star: Option<(usize, usize)> = None;
    while at_text < text.len() {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                at_pattern += 1;
                star = Some((at_pattern, at_text));
            }
            Some(&byte) if byte == b'?' || byte == text[at_text] => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => {
                let Some((after_star, swallowed)) = star else {
                    return false;
                };
                at_pattern = after_star;
                at_text = swallowed + 1;
                star = Some((after_star, at_text));
            }
        }
    }
    pattern[at_pattern..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::any;
    use proptest::prelude::prop;
    use proptest::prop_assert;
    use proptest::prop_assert_eq;
    use proptest::proptest;

    use super::matches;

    /// The definition itself, exponential as it is.
    fn defined(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), None) => defined(rest, text),
            (Some((b'*', rest)), Some((_, shorter))) => defined(rest, text) || defined(pattern, shorter),
            (Some((byte, rest)), Some((first, shorter))) => {
                (*byte == b'?' || byte == first) && defined(rest, shorter)
            }
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    #[test]
    fn examples() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "/usr/bin/java", true),
            ("**", "a", true),
            ("?", "", false),
            ("?", "a", true),
            ("*/java", "/usr/lib/jvm/17/bin/java", true),
            ("*/java", "/usr/bin/javac", false),
            ("/opt/*", "/opt/a/b", true),
            ("/opt/*/bin/?", "/opt/a/b/bin/x", true),
            ("a*b*c", "abbcbc", true),
            ("a*b*c", "abbcb", false),
            ("*.so", "x.so.so", true),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} against {text}"
            );
        }
    }

    #[test]
    fn a_hostile_pattern_is_answered_at_once() {
        let pattern: Vec<u8> = b"*a".repeat(2000).into_iter().chain(*b"b").collect();
        assert!(!matches(&pattern, &vec![b'a'; 4096]));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            pattern in prop::collection::vec(prop::sample::select(b"ab*?/".to_vec()), 0..8),
            text in prop::collection::vec(prop::sample::select(b"ab/".to_vec()), 0..8),
        ) {
            prop_assert_eq!(matches(&pattern, &text), defined(&pattern, &text));
        }

        #[test]
        fn a_text_without_wildcards_matches_itself_only(text in any::<Vec<u8>>(), other in any::<Vec<u8>>()) {
            let literal: Vec<u8> = text.into_iter().filter(|byte| !matches!(byte, b'*' | b'?')).collect();
            prop_assert!(matches(&literal, &literal));
            prop_assert_eq!(matches(&literal, &other), literal == other);
        }
    }
}

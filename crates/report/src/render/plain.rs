//! Text for terminals that cannot show more than ASCII.
//!
//! The few characters that reports are written with have plain forms; anything else, the names of other people's
//! files for instance, becomes a question mark, as it could not have been shown anyway.

use std::borrow::Cow;

/// The text without any character outside of ASCII.
pub(super) fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '×' => plain.push('x'),
            'µ' => plain.push('u'),
            '…' => plain.push_str(".."),
            '≤' => plain.push_str("<="),
            '∞' => plain.push_str("inf"),
            '–' => plain.push('-'),
            ascii if ascii.is_ascii() => plain.push(ascii),
            _ => plain.push('?'),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn what_reports_use_has_a_plain_form() {
        assert_eq!(ascii("14.2 µs (≤3 … ∞) 2 ×"), "14.2 us (<=3 .. inf) 2 x");
        assert_eq!(ascii("naïve"), "na?ve");
    }
}

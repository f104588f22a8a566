//! Words in the languages of the files that we write.
//!
//! A command's words are bytes; blanks, quotation marks, line ends, `$` and bytes that are no text must come out of a shell as
//! they went in. Each language has its own rules, and in each there is one form in which nothing is special.

use std::ffi::OsStr;

/// A word for a POSIX shell: within single quotation marks nothing is special but the mark itself.
pub fn shell(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_encoded_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(byte);
    // A word with = is left bare only where it cannot be taken for an assignment.
    if !bytes.is_empty() && bytes.iter().all(plain) && !bytes.contains(&b'=') {
        return bytes.to_owned();
    }
    let mut quoted = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A setting `NAME=VALUE` for `Environment=` of a systemd unit, systemd.exec(5): C escapes within double quotation marks, and
/// `%` doubled because it begins a specifier.
pub fn systemd_setting(name: &str, value: &str) -> String {
    let mut quoted = format!("\"{name}=");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '%' => quoted.push_str("%%"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// A value for a file of environment.d(5): double quotation marks as in a shell, and `$` doubled because variables are
/// expanded after the quotation marks are gone.
pub fn environment_value(value: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' | '`' => quoted.extend(['\\', letter]),
            '$' => quoted.push_str("$$"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words() {
        let quoted = |word: &str| String::from_utf8(shell(OsStr::new(word))).unwrap();
        assert_eq!(quoted("/usr/bin/a-b_c.d"), "/usr/bin/a-b_c.d");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("A=b"), "'A=b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("$(x)`y`\n\"\\"), "'$(x)`y`\n\"\\'");
        assert_eq!(quoted("~"), "'~'");
        assert_eq!(quoted("é"), "'é'");
    }

    #[test]
    fn systemd_settings() {
        assert_eq!(systemd_setting("A", "/lib/x.so"), "\"A=/lib/x.so\"");
        assert_eq!(systemd_setting("A", "50% \"x\"\\"), "\"A=50%% \\\"x\\\"\\\\\"");
    }

    #[test]
    fn environment_values() {
        assert_eq!(
            environment_value("*=mimalloc;/a b=system"),
            "\"*=mimalloc;/a b=system\""
        );
        assert_eq!(environment_value("$HOME`\"\\"), "\"$$HOME\\`\\\"\\\\\"");
    }
}

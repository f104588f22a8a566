//! One line of ours in a file of other people's.

/// The content with our line at its end, and not twice.
pub fn with(content: &[u8], line: &str) -> Vec<u8> {
    let mut content = without(content, Some(line));
    if content.last().is_some_and(|&last| last != b'\n') {
        content.push(b'\n');
    }
    content.extend_from_slice(line.as_bytes());
    content.push(b'\n');
    content
}

/// The content without the lines that are exactly this one.
pub fn without(content: &[u8], line: Option<&str>) -> Vec<u8> {
    let Some(line) = line else {
        return content.to_owned();
    };
    let others = content
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|other| other.strip_suffix(b"\n").unwrap_or(other) != line.as_bytes());
    others.flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_and_goes_and_the_others_stay() {
        assert_eq!(with(b"", "ours"), b"ours\n");
        assert_eq!(with(b"theirs", "ours"), b"theirs\nours\n");
        assert_eq!(with(b"ours\ntheirs\n", "ours"), b"theirs\nours\n");
        assert_eq!(without(b"a\nours\n\xffb", Some("ours")), b"a\n\xffb");
        assert_eq!(without(b"ours", Some("ours")), b"");
        assert_eq!(without(b" ours\nours2\n", Some("ours")), b" ours\nours2\n");
    }
}

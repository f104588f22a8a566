//! Arguments and environment as CreateProcess wants them.
//!
//! A Windows program gets one string and splits it itself, nearly always by the rules of the C run time
//! ("Parsing C command-line arguments"): blanks separate, quotes group, and backslashes are plain except
//! before a quote, where two stand for one.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};

use super::super::{LaunchError, Spec};

/// The most UTF-16 units that CreateProcess takes, the final zero included.
pub const MAX_UNITS: usize = 32_767;

/// A string for the system, ended by zero.
pub fn wide(text: &OsStr) -> Result<Vec<u16>, LaunchError> {
    let mut units: Vec<u16> = text.encode_wide().collect();
    if units.contains(&0) {
        return Err(LaunchError::Other(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("the text {text:?} contains a zero, which no argument or variable can carry; remove it"),
        )));
    }
    units.push(0);
    Ok(units)
}

/// The command line of `spec`.
pub fn command_line(spec: &Spec) -> Result<Vec<u16>, LaunchError> {
    let mut line = Vec::new();
    // The zeroth argument is split by simpler rules: up to the next quote, no escapes. A path has no quotes.
    quote_always(&mut line, spec.program.as_os_str());
    for argument in &spec.args {
        line.push(u16::from(b' '));
        quote(&mut line, argument);
    }
    let units = line.len() + 1;
    if units > MAX_UNITS {
        return Err(LaunchError::TooLong { bytes: units * 2 });
    }
    wide(&OsString::from_wide(&line))
}

fn quote(line: &mut Vec<u16>, argument: &OsStr) {
    let special = |unit| [b' ', b'\t', b'"'].map(u16::from).contains(&unit);
    if !argument.is_empty() && !argument.encode_wide().any(special) {
        line.extend(argument.encode_wide());
        return;
    }
    quote_always(line, argument);
}

fn quote_always(line: &mut Vec<u16>, argument: &OsStr) {
    const BACKSLASH: u16 = b'\\' as u16;
    const QUOTE: u16 = b'"' as u16;
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in argument.encode_wide() {
        if unit == BACKSLASH {
            backslashes += 1;
        } else {
            if unit == QUOTE {
                // Those before a quote twice, and one for the quote itself.
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
            }
            backslashes = 0;
        }
        line.push(unit);
    }
    // So that the closing quote is none of the argument's.
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

/// The environment block of `spec`: `NAME=value` strings sorted by name without regard to case, each ended by
/// zero, and a zero at the end of all.
pub fn environment(entries: &[(OsString, OsString)]) -> Result<Vec<u16>, LaunchError> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(name, _)| name.to_ascii_uppercase());
    let mut block = Vec::new();
    for (name, value) in sorted {
        let mut entry = name.clone();
        entry.push("=");
        entry.push(value);
        block.extend(wide(&entry)?);
    }
    if block.is_empty() {
        // Even without entries it is a list: two zeros.
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &[&str]) -> String {
        let units = command_line(&Spec::new("p").args(args.iter().copied())).expect("no zero is inside");
        OsString::from_wide(&units[..units.len() - 1])
            .into_string()
            .expect("it was text")
    }

    #[test]
    fn arguments_are_quoted_where_needed() {
        assert_eq!(line(&["a", "b c", ""]), r#""p" a "b c" """#);
        assert_eq!(line(&[r#"say "hi""#]), r#""p" "say \"hi\"""#);
        assert_eq!(line(&[r"C:\a\", r"C:\a b\"]), r#""p" C:\a\ "C:\a b\\""#);
        assert_eq!(line(&[r#"\\"x"#]), r#""p" "\\\\\"x""#);
    }

    #[test]
    fn what_is_too_long_or_contains_zero_is_refused() {
        let long = Spec::new("p").args(["x".repeat(MAX_UNITS)]);
        assert!(matches!(command_line(&long), Err(LaunchError::TooLong { .. })));
        assert!(matches!(
            command_line(&Spec::new("p").args(["\0"])),
            Err(LaunchError::Other(_))
        ));
    }

    #[test]
    fn the_environment_is_sorted_and_ends_with_an_empty_string() {
        let block =
            environment(&[("b".into(), "2".into()), ("A".into(), "1".into())]).expect("no zero is inside");
        assert_eq!(String::from_utf16(&block).expect("it was text"), "A=1\0b=2\0\0");
        assert_eq!(environment(&[]).expect("nothing is inside"), [0, 0]);
    }
}

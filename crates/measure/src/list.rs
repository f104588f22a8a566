//! Lists of numbers, everywhere a number is taken: `begin[,end[,increment[,type]]]`.
//!
//! The syntax is that of the fourth article's list generator. Type 0 (the default) counts up by `increment`
//! (1 when absent); type 1 is geometric: the value doubles, with `increment` steps to each doubling, integers
//! only. Zero stands alone in a geometric list, since nothing doubles it. Lists are joined with `+`. Numbers
//! carry suffixes: `k`, `M`, `G` are powers of 1024; `us`, `ms`, `s` make a duration in nanoseconds, and `ns`
//! is one.
//!
//! `1,32,2,1` is 1 2 3 4 6 8 12 16 24 32, and `4,8` is 4 5 6 7 8.

use thiserror::Error;

/// More values than this are a slip of the keyboard, not a sweep.
pub const MAX_VALUES: usize = 100_000;

/// Why a list cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("read the list {text:?} at position {position}: {problem}; a right one is {example}")]
pub struct ListError {
    /// The whole text.
    pub text: String,
    /// Position of the fault in characters, counted from 1.
    pub position: usize,
    /// What is wrong there.
    pub problem: String,
    /// A list that is right.
    pub example: &'static str,
}

const EXAMPLE: &str = "1,32,2,1 (= 1 2 3 4 6 8 12 16 24 32) or 4,8 or 64+256+2k";

/// Reads a list and returns its values in the order in which they are written; repeats are kept once.
///
/// # Errors
/// [`ListError`] with the position of the fault.
pub fn parse(text: &str) -> Result<Vec<u64>, ListError> {
    let mut values = Vec::new();
    let mut position = 1;
    for part in text.split('+') {
        parse_one(text, part, position, &mut values)?;
        position += part.chars().count() + 1;
    }
    Ok(values)
}

fn parse_one(text: &str, part: &str, start: usize, values: &mut Vec<u64>) -> Result<(), ListError> {
    let fail = |position: usize, problem: String| ListError {
        text: text.to_owned(),
        position,
        problem,
        example: EXAMPLE,
    };
    let mut numbers = [None; 4];
    let mut position = start;
    let mut places = [start; 4];
    for (index, item) in part.split(',').enumerate() {
        if index == 4 {
            return Err(fail(
                position,
                "a fifth number; a list has at most begin,end,increment,type".to_owned(),
            ));
        }
        places[index] = position;
        numbers[index] = Some(number(item).map_err(|(offset, problem)| fail(position + offset, problem))?);
        position += item.chars().count() + 1;
    }
    let begin = numbers[0].unwrap_or(0);
    let end = numbers[1].unwrap_or(begin);
    let increment = numbers[2].unwrap_or(1);
    if end < begin {
        return Err(fail(
            places[1],
            format!("the end {end} is below the begin {begin}"),
        ));
    }
    if increment == 0 {
        return Err(fail(
            places[2],
            "an increment of 0 never reaches the end".to_owned(),
        ));
    }
    let mut push = |value: u64| {
        if values.len() >= MAX_VALUES {
            return Err(fail(start, format!("more than {MAX_VALUES} values")));
        }
        if !values.contains(&value) {
            values.push(value);
        }
        Ok(())
    };
    match numbers[3].unwrap_or(0) {
        0 => {
            let count = (end - begin) / increment;
            if count >= MAX_VALUES as u64 {
                return Err(fail(start, format!("more than {MAX_VALUES} values")));
            }
            (0..=count).try_for_each(|step| push(begin + step * increment))
        }
        1 => geometric(begin, end, increment).into_iter().try_for_each(push),
        other => Err(fail(
            places[3],
            format!("type {other}; 0 is arithmetic and 1 geometric"),
        )),
    }
}

/// Doubling from `begin` to `end` with `steps` values to each doubling, without those that are no integers.
fn geometric(begin: u64, end: u64, steps: u64) -> Vec<u64> {
    if begin == 0 {
        // Nothing doubles zero: it stands alone, and the doubling starts at one.
        let mut values = vec![0];
        if end > 0 {
            values.extend(geometric(1, end, steps));
        }
        return values;
    }
    let mut values = Vec::new();
    let mut base = begin;
    while base <= end && values.len() <= MAX_VALUES {
        // Of base + base × step / steps the integers are those of every (steps / gcd)-th step.
        let distance = base / gcd(base, steps);
        let top = end.min(base.saturating_mul(2) - 1);
        let count = (top - base) / distance;
        values.extend((0..=count.min(MAX_VALUES as u64)).map(|step| base + step * distance));
        match base.checked_mul(2) {
            Some(next) => base = next,
            None => break,
        }
    }
    values
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A number with its suffix, or the offset of the fault and what is wrong there.
fn number(item: &str) -> Result<u64, (usize, String)> {
    if item.is_empty() {
        return Err((0, "a number is missing".to_owned()));
    }
    let digits = item.find(|c: char| !c.is_ascii_digit()).unwrap_or(item.len());
    let (value, suffix) = item.split_at(digits);
    if value.is_empty() {
        return Err((0, format!("{item:?} is not a number")));
    }
    let scale: u64 = match suffix {
        "" | "ns" => 1,
        "k" | "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => {
            return Err((
                digits,
                format!("{suffix:?} is no suffix; there are k, M, G, ns, us, ms, s"),
            ));
        }
    };
    value
        .parse::<u64>()
        .ok()
        .and_then(|value| value.checked_mul(scale))
        .ok_or_else(|| (0, format!("{item:?} is too large; the largest is {}", u64::MAX)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_design_examples_hold() {
        assert_eq!(parse("1,32,2,1").unwrap(), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        assert_eq!(parse("4,8").unwrap(), [4, 5, 6, 7, 8]);
        assert_eq!(parse("7").unwrap(), [7]);
        assert_eq!(parse("0").unwrap(), [0]);
        assert_eq!(parse("0,10,5").unwrap(), [0, 5, 10]);
        assert_eq!(parse("0,8,1,1").unwrap(), [0, 1, 2, 4, 8]);
        assert_eq!(parse("2,8,4,1").unwrap(), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            parse("1,1024,1,1").unwrap(),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
        );
    }

    #[test]
    fn lists_are_joined_and_suffixed() {
        assert_eq!(parse("1+4k+2M").unwrap(), [1, 4096, 2 << 20]);
        assert_eq!(parse("1,3+2,4").unwrap(), [1, 2, 3, 4]);
        assert_eq!(parse("10us+1ms+1s").unwrap(), [10_000, 1_000_000, 1_000_000_000]);
    }

    #[test]
    fn a_fault_is_named_with_its_position_and_a_right_example() {
        let position = |text: &str| parse(text).unwrap_err().position;
        assert_eq!(position(""), 1);
        assert_eq!(position("1,x"), 3);
        assert_eq!(position("1,8,0"), 5);
        assert_eq!(position("1,8,1,2"), 7);
        assert_eq!(position("1,8,1,1,1"), 9);
        assert_eq!(position("4+9,2"), 5);
        assert_eq!(position("99999999999999999999"), 1);
        assert_eq!(position("17179869184G"), 1);
        assert_eq!(position("1,18446744073709551615"), 1);
        let message = parse("1,8x").unwrap_err().to_string();
        assert!(
            message.contains("position 4") && message.contains("1,32,2,1"),
            "{message}"
        );
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        assert_eq!(parse("18446744073709551615").unwrap(), [u64::MAX]);
        let top = parse("1,18446744073709551615,1,1").unwrap();
        assert_eq!((top.len(), top[63]), (64, 1 << 63));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[0-9,+kMGumsx ]{0,24}") {
            if let Ok(values) = parse(&text) {
                prop_assert!(!values.is_empty() && values.len() <= MAX_VALUES);
            }
        }

        #[test]
        fn a_geometric_list_rises_within_its_bounds(begin in 1u64..500, extra in 0u64..5000, steps in 1u64..9) {
            let values = parse(&format!("{begin},{},{steps},1", begin + extra)).unwrap();
            prop_assert_eq!(values[0], begin);
            prop_assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(*values.last().unwrap() <= begin + extra);
        }
    }
}

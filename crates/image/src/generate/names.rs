//! What functions and variables are called.
//!
//! A decorated name has what makes real ones dear: a long common beginning (name spaces and classes), and the difference at
//! the end. Every name of ours ends in a mark by which it is told from the compiler's own.

use super::Naming;

/// The shortest decorated name: the fixed parts with numbers of four and five digits, and one component.
pub const SHORTEST: usize = 40;

/// The name of function `function` of part `part`, both counted from 1.
#[must_use]
pub fn function(naming: Naming, part: u32, function: u32) -> String {
    match naming {
        Naming::C => format!("lib{part}_func_{function}"),
        Naming::Cxx(length) => decorated(length, part, function),
    }
}

/// The name of a variable.
#[must_use]
pub fn variable(part: u32, function: u32, index: u32) -> String {
    format!("lib{part}_var_{function}_{index}")
}

/// True of the names of functions that [`function`] makes.
#[must_use]
pub fn is_function(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"_ZN").unwrap_or(name);
    contains(name, b"lib") && contains(name, b"_func_")
}

/// True of the names that [`variable`] makes.
#[must_use]
pub fn is_variable(name: &[u8]) -> bool {
    name.starts_with(b"lib") && contains(name, b"_var_")
}

/// True when `part`, which is not empty, stands somewhere in `text`.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// `_ZN`, length-prefixed components, `Ev`: a function without arguments in nested name spaces.
fn decorated(length: usize, part: u32, function: u32) -> String {
    /// As long as the longest component.
    const LETTERS: &str = "loadtimetestcomponents";
    /// Characters of an ordinary component: two digits and ten letters.
    const COMPONENT: usize = 12;
    let own = format!("lib{part}_func_{function}");
    let end = format!("{}{own}Ev", own.len());
    let room = length.saturating_sub("_ZN".len() + end.len());
    let (whole, rest) = (room / COMPONENT, room % COMPONENT);
    let mut name = "_ZN".to_owned();
    for index in 0..whole {
        // The first takes what does not fill one of its own.
        let letters = COMPONENT - 2 + if index == 0 { rest } else { 0 };
        name.push_str(&format!("{letters}{}", &LETTERS[..letters]));
    }
    name + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorated_names_have_the_length_asked_for_and_differ() {
        for length in SHORTEST..200 {
            for (part, index) in [(1, 1), (12, 345), (1000, 10_000)] {
                let name = function(Naming::Cxx(length), part, index);
                assert_eq!(name.len(), length, "{name}");
                assert!(is_function(name.as_bytes()));
            }
        }
    }

    #[test]
    fn names_of_others_are_not_ours() {
        for name in [
            "__libc_start_main",
            "_ZNSt6vectorIiE4sizeEv",
            "puts",
            "libc_freeres",
        ] {
            assert!(
                !is_function(name.as_bytes()) && !is_variable(name.as_bytes()),
                "{name}"
            );
        }
        assert!(is_variable(variable(1, 2, 3).as_bytes()));
    }
}

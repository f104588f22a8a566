//! Selectors: which benchmarks a command line means.
//!
//! `heap` is a suite, `heap/heaptest` a benchmark; `*` stands for any run of characters (also `heap/*free*`).

use thiserror::Error;

use crate::benchmark::Info;

/// A selector that matches nothing or is malformed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    /// Empty, or with an empty part.
    #[error(
        "read the selector {text:?} at position {position}: {problem}; a right one is heap or heap/heaptest"
    )]
    Malformed {
        /// The text.
        text: String,
        /// Position of the fault, from 1.
        position: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// Nothing has that name.
    #[error("find a benchmark for {text:?}; there are: {known}")]
    NoMatch {
        /// The text.
        text: String,
        /// What there is.
        known: String,
    },
}

/// The benchmarks that the selectors mean, in the registry's order; all when there is no selector.
///
/// # Errors
/// [`SelectorError`] for the first selector that is malformed or matches nothing.
pub fn select<'a>(selectors: &[String], all: &[&'a Info]) -> Result<Vec<&'a Info>, SelectorError> {
    if selectors.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen = vec![false; all.len()];
    for text in selectors {
        check(text)?;
        let mut any = false;
        for (index, info) in all.iter().enumerate() {
            if matches(text, info) {
                chosen[index] = true;
                any = true;
            }
        }
        if !any {
            let known = all
                .iter()
                .map(|info| info.full_name())
                .collect::<Vec<_>>()
                .join(", ");
            return Err(SelectorError::NoMatch {
                text: text.clone(),
                known,
            });
        }
    }
    Ok(all
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(info, _)| *info)
        .collect())
}

fn check(text: &str) -> Result<(), SelectorError> {
    let malformed = |position, problem| SelectorError::Malformed {
        text: text.to_owned(),
        position,
        problem,
    };
    if text.is_empty() {
        return Err(malformed(1, "it is empty"));
    }
    let mut slashes = 0;
    for (index, c) in text.chars().enumerate() {
        match c {
            '/' if index == 0 => return Err(malformed(1, "the suite is missing")),
            '/' => {
                slashes += 1;
                if slashes == 2 {
                    return Err(malformed(
                        index + 1,
                        "parameters are given with --set, subjects with --subject",
                    ));
                }
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | '-') => {}
            _ => return Err(malformed(index + 1, "names have letters, digits, _ and -")),
        }
    }
    if text.ends_with('/') {
        return Err(malformed(text.chars().count() + 1, "the benchmark is missing"));
    }
    Ok(())
}

fn matches(text: &str, info: &Info) -> bool {
    if text.contains('/') {
        glob(text, &info.full_name())
    } else {
        glob(text, info.suite)
    }
}

/// `*` matches any run of characters. Linear in the product of the lengths: no backtracking beyond the last star.
fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n, mut retry) = (0, 0, None);
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            retry = Some((p, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((star, from)) = retry {
            p = star + 1;
            n = from + 1;
            retry = Some((star, n));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn info(suite: &'static str, name: &'static str) -> Info {
        Info {
            suite,
            name,
            summary: "",
            parameters: &[],
            metrics: &[],
            presets: &[],
            floor_ns: 0.0,
        }
    }

    static HEAPTEST: Info = info("heap", "heaptest");
    static BURST: Info = info("heap", "burst");
    static MUTEX: Info = info("sync", "pthread_mutex");

    fn names(selectors: &[&str]) -> Result<Vec<String>, SelectorError> {
        let selectors: Vec<_> = selectors.iter().map(|&text| text.to_owned()).collect();
        Ok(select(&selectors, &[&HEAPTEST, &BURST, &MUTEX])?
            .iter()
            .map(|info| info.full_name())
            .collect())
    }

    #[test]
    fn suites_benchmarks_and_stars() {
        assert_eq!(names(&[]).unwrap().len(), 3);
        assert_eq!(names(&["heap"]).unwrap(), ["heap/heaptest", "heap/burst"]);
        assert_eq!(
            names(&["sync/*mutex", "heap/burst"]).unwrap(),
            ["heap/burst", "sync/pthread_mutex"]
        );
        assert_eq!(names(&["*"]).unwrap().len(), 3);
        assert_eq!(names(&["*/*t*"]).unwrap().len(), 3);
    }

    #[test]
    fn faults_have_positions() {
        assert!(
            names(&["heap/nothing"])
                .unwrap_err()
                .to_string()
                .contains("there are: heap/heaptest")
        );
        assert!(names(&[""]).unwrap_err().to_string().contains("position 1"));
        assert!(names(&["/x"]).unwrap_err().to_string().contains("position 1"));
        assert!(names(&["heap/"]).unwrap_err().to_string().contains("position 6"));
        assert!(
            names(&["heap/heaptest/threads=2"])
                .unwrap_err()
                .to_string()
                .contains("--set")
        );
        assert!(names(&["he ap"]).unwrap_err().to_string().contains("position 3"));
    }
}

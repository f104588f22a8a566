//! CPU quotas: what the cgroups above and around this process have counted in `cpu.stat`.

use std::fs;
use std::path::PathBuf;

use super::Throttling;
use crate::cgroup;
use crate::support::Unsupported;

pub(super) fn throttling() -> Result<Throttling, Unsupported> {
    let folders = cgroup::folders("cpu").map_err(|error| {
        Unsupported::new(format!("the control groups of this process are unknown: {error}"))
    })?;
    sum_over(&folders).ok_or_else(|| Unsupported::new("no CPU controller governs this process"))
}

fn sum_over(folders: &[PathBuf]) -> Option<Throttling> {
    let counted = folders
        .iter()
        .filter_map(|folder| parse_cpu_stat(&fs::read_to_string(folder.join("cpu.stat")).ok()?));
    counted.reduce(|sum, group| Throttling {
        periods: sum.periods + group.periods,
        throttled_periods: sum.throttled_periods + group.throttled_periods,
        throttled_ns: sum.throttled_ns + group.throttled_ns,
    })
}

/// v1 counts the time in nanoseconds as `throttled_time`, v2 in microseconds as `throttled_usec`.
/// A group that has no quota of its own has no such lines in v2.
fn parse_cpu_stat(text: &str) -> Option<Throttling> {
    let value = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(name, _)| *name == key)?
            .1
            .trim()
            .parse::<u64>()
            .ok()
    };
    let in_ns = value("throttled_time").or_else(|| value("throttled_usec").map(|us| us.saturating_mul(1000)));
    Some(Throttling {
        periods: value("nr_periods")?,
        throttled_periods: value("nr_throttled")?,
        throttled_ns: in_ns.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_the_statistics_are_understood() {
        let version_1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 5000\nnr_bursts 0\n";
        let expected = Throttling {
            periods: 10,
            throttled_periods: 3,
            throttled_ns: 5000,
        };
        assert_eq!(parse_cpu_stat(version_1), Some(expected));
        let version_2 = "usage_usec 1\nuser_usec 1\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5\n";
        assert_eq!(parse_cpu_stat(version_2), Some(expected));
        assert_eq!(parse_cpu_stat("usage_usec 178559731\nuser_usec 1\n"), None);
    }

    #[test]
    fn groups_above_count_too() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(
            root.path().join("cpu.stat"),
            "nr_periods 4\nnr_throttled 1\nthrottled_usec 2\n",
        )
        .unwrap();
        fs::write(
            inner.join("cpu.stat"),
            "nr_periods 5\nnr_throttled 2\nthrottled_usec 3\n",
        )
        .unwrap();
        let sum = sum_over(&[inner, root.path().to_owned(), root.path().join("gone")]).unwrap();
        assert_eq!(
            sum,
            Throttling {
                periods: 9,
                throttled_periods: 3,
                throttled_ns: 5000
            }
        );
        assert_eq!(sum_over(&[root.path().join("gone")]), None);
    }
}

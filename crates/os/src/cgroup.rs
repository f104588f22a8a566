//! Finding the control groups whose limits hold for this process.
//!
//! A process belongs to one group in each cgroup hierarchy, and the limits of the groups above hold as well.
//! There may be one hierarchy (v2), several (v1), or both at once (hybrid), mounted anywhere;
//! /proc/self/cgroup names the groups and /proc/self/mountinfo where to find them (cgroups(7), proc_pid_mountinfo(5)).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders of our own group under `controller` and of those above it, up to where the hierarchy is mounted.
///
/// Folders of the v2 hierarchy are included whether or not the controller is switched on there.
pub(crate) fn folders(controller: &str) -> io::Result<Vec<PathBuf>> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(find(controller, &groups, &mounts))
}

fn find(controller: &str, groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let version_2 = controllers.is_empty();
        if !version_2 && !controllers.split(',').any(|word| word == controller) {
            continue;
        }
        let wanted = if version_2 { None } else { Some(controller) };
        let mount = mounts
            .lines()
            .filter_map(Mount::parse)
            .find(|mount| mount.carries(wanted));
        if let Some(mount) = mount {
            folders.extend(mount.folders(group));
        }
    }
    folders
}

struct Mount<'a> {
    /// Which part of the hierarchy is visible: `/`, or the container's own group.
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let mut right = right.split(' ');
        Some(Self {
            root: left.next()?,
            point: left.next()?,
            kind: right.next()?,
            options: right.nth(1).unwrap_or(""),
        })
    }

    /// `None` asks for the v2 hierarchy, which carries every controller.
    fn carries(&self, controller: Option<&str>) -> bool {
        match controller {
            None => self.kind == "cgroup2",
            Some(name) => self.kind == "cgroup" && self.options.split(',').any(|option| option == name),
        }
    }

    fn folders(&self, group: &str) -> Vec<PathBuf> {
        // In a container without a group namespace the group's name is that of the host, and the mount shows only
        // what lies below its root.
        let below = Path::new(group).strip_prefix(self.root).unwrap_or(Path::new(""));
        below
            .ancestors()
            .map(|part| Path::new(self.point).join(part))
            .collect()
    }
}

/// The tightest memory limit that holds for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryGroup {
    /// Bytes that the group may use.
    pub(crate) limit: u64,
    /// Bytes that cannot be had any more: in use and not merely cached file contents that may be dropped.
    pub(crate) usage: u64,
}

/// The memory limit with the least left, if there is any.
pub(crate) fn memory() -> Option<MemoryGroup> {
    let groups = folders("memory")
        .ok()?
        .into_iter()
        .filter_map(|folder| memory_of(&folder));
    groups.min_by_key(|group| group.limit.saturating_sub(group.usage))
}

fn memory_of(folder: &Path) -> Option<MemoryGroup> {
    let number = |name: &str| {
        fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    // Without a limit v2 says "max", which is no number, and v1 the largest multiple of a page.
    let (limit, usage) = number("memory.max")
        .zip(number("memory.current"))
        .or_else(|| number("memory.limit_in_bytes").zip(number("memory.usage_in_bytes")))?;
    if limit >= i64::MAX as u64 / 4096 * 4096 {
        return None;
    }
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = ["total_inactive_file ", "inactive_file "].iter().find_map(|key| {
        statistics
            .lines()
            .find_map(|line| line.strip_prefix(key))?
            .parse()
            .ok()
    });
    Some(MemoryGroup {
        limit,
        usage: usage.saturating_sub(cached.unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hybrid_machines_have_both() {
        let mounts = "\
30 22 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
33 22 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:14 - cgroup cgroup rw,cpu,cpuacct
34 22 0:30 / /sys/fs/cgroup/memory rw,relatime shared:15 - cgroup cgroup rw,memory
";
        let folders = find("cpu", "4:memory:/a\n1:cpu,cpuacct:/job/7\n0::/user\n", mounts);
        let expected = [
            "/sys/fs/cgroup/cpu,cpuacct/job/7",
            "/sys/fs/cgroup/cpu,cpuacct/job",
            "/sys/fs/cgroup/cpu,cpuacct/",
            "/sys/fs/cgroup/unified/user",
            "/sys/fs/cgroup/unified/",
        ];
        assert_eq!(folders, expected.map(Path::new));
    }

    #[test]
    fn containers_see_their_group_as_the_root() {
        let mounts = "9 8 0:1 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let folders = find("cpu", "0::/docker/abc/inner\n", mounts);
        assert_eq!(
            folders,
            [Path::new("/sys/fs/cgroup/inner"), Path::new("/sys/fs/cgroup/")]
        );
    }

    #[test]
    fn nonsense_yields_nothing() {
        assert!(find("cpu", "", "").is_empty());
        assert!(find("cpu", "0::/a\nx\n::\n", "1 2 3\n - \n").is_empty());
    }

    #[test]
    fn memory_limits_of_both_versions_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "5000\n");
        assert_eq!(memory_of(folder.path()), None);
        write("memory.limit_in_bytes", "8000\n");
        write("memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
        assert_eq!(
            memory_of(folder.path()),
            Some(MemoryGroup {
                limit: 8000,
                usage: 4000
            })
        );
        write("memory.max", "max\n");
        write("memory.current", "1\n");
        assert_eq!(
            memory_of(folder.path()),
            Some(MemoryGroup {
                limit: 8000,
                usage: 4000
            })
        );
        write("memory.max", "6000\n");
        assert_eq!(
            memory_of(folder.path()),
            Some(MemoryGroup {
                limit: 6000,
                usage: 0
            })
        );
    }
}

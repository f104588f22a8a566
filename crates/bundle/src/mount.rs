//! Whether programs on a file system may be executed.
//!
//! Homes and `/tmp` are sometimes mounted so that nothing there can be executed or mapped as code. A worker unpacked there fails
//! to start; a library fails in a worse way, since the loader leaves it out with a warning and goes on. So it is found out before.

use std::fs;
use std::path::Path;

/// Where Linux lists the mounts of a process; other systems have no such list, and no such mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Whether the file system that holds `folder` (absolute, without links) is mounted `noexec`. False when nobody knows.
pub(crate) fn is_noexec(folder: &Path) -> bool {
    fs::read_to_string(MOUNTS).is_ok_and(|mounts| says_noexec(&mounts, folder))
}

/// Source: `proc_pid_mountinfo(5)`: the fifth field is the mount point, blanks and the like in it as `\` and three octal
/// digits; the sixth are the options.
fn says_noexec(mounts: &str, folder: &Path) -> bool {
    let mut nearest = (0, false);
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some(point), Some(options)) = (fields.next(), fields.next()) else {
            continue;
        };
        let point = point
            .replace("\\040", " ")
            .replace("\\011", "\t")
            .replace("\\134", "\\");
        // A later mount on the same point covers the earlier one.
        if folder.starts_with(&point) && point.len() >= nearest.0 {
            nearest = (point.len(), options.split(',').any(|option| option == "noexec"));
        }
    }
    nearest.1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
        30 22 0:26 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw\n\
        31 30 0:27 / /tmp/a\\040b rw,nosuid - tmpfs tmpfs rw\n\
        32 22 0:28 / /home rw - ext4 /dev/vdb rw\n\
        33 22 0:29 / /home rw,noexec - ext4 /dev/vdc rw\n\
        broken line\n";

    #[test]
    fn the_nearest_and_latest_mount_counts() {
        for (folder, noexec) in [
            ("/", false),
            ("/var/tmp", false),
            ("/tmp", true),
            ("/tmp/x", true),
            ("/tmpx", false),
            ("/tmp/a b/c", false),
            ("/home/user", true),
        ] {
            assert_eq!(says_noexec(TABLE, Path::new(folder)), noexec, "{folder}");
        }
    }
}

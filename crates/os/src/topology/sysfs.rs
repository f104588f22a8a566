//! The machine as /sys/devices/system shows it (Documentation/admin-guide/cputopology.rst and
//! Documentation/ABI/stable/sysfs-devices-system-cpu). Files may be missing on small or virtual machines, so each
//! has a fallback. Takes the folder as an argument: tested on trees made for the purpose.

use std::fs;
use std::path::Path;

use super::Cpu;
use crate::thread::CpuSet;

pub(super) fn online(system: &Path) -> Option<CpuSet> {
    list(&system.join("cpu/online")).filter(|online| !online.is_empty())
}

pub(super) fn cpus(system: &Path, online: &CpuSet) -> Vec<Cpu> {
    let nodes = nodes(system);
    let describe = |id: usize| {
        let folder = system.join(format!("cpu/cpu{id}"));
        // The list contains offline siblings in some kernels; nothing can run there.
        let siblings = list(&folder.join("topology/thread_siblings_list"))
            .map(|siblings| siblings.intersection(online))
            .filter(|siblings| siblings.contains(id))
            .unwrap_or_else(|| CpuSet::single(id));
        Cpu {
            id,
            core: siblings.first().unwrap_or(id),
            // Some virtual machines say -1 for "unknown".
            package: number(&folder.join("topology/physical_package_id")).unwrap_or(0),
            smt_siblings: siblings.iter().collect(),
            llc_id: last_level_cache(&folder.join("cache")),
            numa: nodes
                .iter()
                .find(|(_, cpus)| cpus.contains(id))
                .map(|(node, _)| *node),
        }
    };
    online.iter().map(describe).collect()
}

/// The lowest CPU that shares the cache of the highest level.
fn last_level_cache(folder: &Path) -> Option<usize> {
    let indices = fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let data = indices.filter(|index| text(&index.join("type")).is_some_and(|kind| kind != "Instruction"));
    let last = data
        .filter_map(|index| Some((number(&index.join("level"))?, index)))
        .max()?
        .1;
    list(&last.join("shared_cpu_list"))?.first()
}

fn nodes(system: &Path) -> Vec<(usize, CpuSet)> {
    let Ok(folder) = fs::read_dir(system.join("node")) else {
        return Vec::new();
    };
    let node = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((id, list(&entry.path().join("cpulist"))?))
    };
    folder.filter_map(Result::ok).filter_map(node).collect()
}

fn list(path: &Path) -> Option<CpuSet> {
    text(path)?.parse().ok()
}

fn number(path: &Path) -> Option<usize> {
    text(path)?.parse().ok()
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_tree_is_understood() {
        let tree = tempfile::tempdir().unwrap();
        let root = tree.path();
        write(root, "cpu/online", "0-3\n");
        for (cpu, siblings, package) in [
            (0, "0,2", "0"),
            (1, "1,3,5", "1"),
            (2, "0,2", "0"),
            (3, "1,3,5", "1"),
        ] {
            write(
                root,
                &format!("cpu/cpu{cpu}/topology/thread_siblings_list"),
                siblings,
            );
            write(
                root,
                &format!("cpu/cpu{cpu}/topology/physical_package_id"),
                package,
            );
            write(root, &format!("cpu/cpu{cpu}/cache/index0/type"), "Data\n");
            write(root, &format!("cpu/cpu{cpu}/cache/index0/level"), "1\n");
            write(
                root,
                &format!("cpu/cpu{cpu}/cache/index0/shared_cpu_list"),
                siblings,
            );
            write(root, &format!("cpu/cpu{cpu}/cache/index3/type"), "Unified\n");
            write(root, &format!("cpu/cpu{cpu}/cache/index3/level"), "3\n");
            write(
                root,
                &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"),
                "0-3\n",
            );
        }
        write(root, "node/node0/cpulist", "0,2\n");
        write(root, "node/node1/cpulist", "1,3\n");
        write(root, "node/possible", "0-1\n");

        let cpus = cpus(root, &online(root).unwrap());
        assert_eq!(cpus.len(), 4);
        let expected = Cpu {
            id: 3,
            core: 1,
            package: 1,
            smt_siblings: vec![1, 3],
            llc_id: Some(0),
            numa: Some(1),
        };
        assert_eq!(cpus[3], expected);
    }

    #[test]
    fn missing_files_mean_separate_cores_of_one_socket() {
        let tree = tempfile::tempdir().unwrap();
        write(tree.path(), "cpu/cpu0/topology/physical_package_id", "-1\n");
        let cpus = cpus(tree.path(), &"0-1".parse().unwrap());
        let lonely = |id| Cpu {
            id,
            core: id,
            package: 0,
            smt_siblings: vec![id],
            llc_id: None,
            numa: None,
        };
        assert_eq!(cpus, [lonely(0), lonely(1)]);
        assert_eq!(online(tree.path()), None);
    }
}

//! What can stand behind malloc: the heaps that are carried along, those found on the machine, and the C library's own
//! settings. Each is brought about by the environment of the worker alone, the way a user would do it.

use std::path::{Path, PathBuf};

use measure::benchmark::Subject;
use measure::model::Support;

use crate::Artifact;

/// A heap that is carried along: `(name, summary, takes part without being asked for)`.
const CARRIED: &[(&str, &str, bool)] = &[
    ("mimalloc", "mimalloc, carried along", true),
    ("jemalloc", "jemalloc, carried along", true),
    ("snmalloc", "snmalloc, carried along", true),
    (
        "single_lock",
        "the system's heap behind one lock that sleeps at once: the first article's disease",
        true,
    ),
    (
        "single_lock_spin",
        "the same, with 4000 turns of spinning before it sleeps",
        false,
    ),
    (
        "single_lock_kernel",
        "the same, with a kernel object that is entered for every call",
        false,
    ),
];

/// The names of the heaps that are carried along and meant to be used, not those that show the disease.
pub const REMEDIES: [&str; 3] = ["mimalloc", "jemalloc", "snmalloc"];

/// Every subject of the heap suite.
pub fn all(artifact: Artifact<'_>) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = os::heap::KINDS
        .iter()
        .map(|kind| Subject {
            name: kind.name.to_owned(),
            summary: kind.summary.to_owned(),
            support: kind
                .unsupported
                .map_or(Support::Yes, |reason| Support::No(reason.to_owned())),
            environment: Vec::new(),
            by_default: kind.unsupported.is_none(),
        })
        .collect();
    if os::loader::preload_variable().is_none() {
        return subjects;
    }
    subjects.extend(CARRIED.iter().map(|(name, summary, by_default)| {
        let (support, environment) = match artifact(name) {
            Ok(path) => (Support::Yes, preload(&path)),
            Err(reason) => (Support::No(reason), Vec::new()),
        };
        Subject {
            name: (*name).to_owned(),
            summary: (*summary).to_owned(),
            support,
            environment,
            by_default: *by_default,
        }
    }));
    subjects.extend(installed().into_iter().map(|(name, path)| Subject {
        summary: format!("found on this machine: {}", path.display()),
        support: Support::Yes,
        environment: preload(&path),
        by_default: false,
        name,
    }));
    subjects.extend(tunable_subjects());
    subjects
}

/// Heaps found on the machine, under names that differ from those that are carried along.
#[must_use]
pub fn installed() -> Vec<(String, PathBuf)> {
    os::loader::installed_heaps()
        .into_iter()
        .map(|heap| {
            let taken = CARRIED.iter().any(|(name, ..)| *name == heap.name);
            let name = if taken {
                format!("{}-installed", heap.name)
            } else {
                heap.name
            };
            (name, heap.path)
        })
        .collect()
}

/// The variable that preloads a library, set to this one.
#[must_use]
pub fn preload(library: &Path) -> Vec<(String, String)> {
    let variable = os::loader::preload_variable().unwrap_or("LD_PRELOAD");
    vec![(variable.to_owned(), library.to_string_lossy().into_owned())]
}

/// The C library's own settings, as its loader lists them; each at the values that [`tunable_values`] proposes.
fn tunable_subjects() -> Vec<Subject> {
    tunable_values()
        .into_iter()
        .map(|(setting, summary)| Subject {
            environment: vec![("GLIBC_TUNABLES".to_owned(), setting.clone())],
            summary,
            support: Support::Yes,
            by_default: false,
            name: setting,
        })
        .collect()
}

/// Values worth trying for the tunables that this machine's loader lists, as `name=value` with the reason. A tunable that
/// is not listed is never proposed.
#[must_use]
pub fn tunable_values() -> Vec<(String, String)> {
    const VALUES: &[(&str, &[u64], &str)] = &[
        (
            "glibc.malloc.arena_max",
            &[1, 2, 4],
            "fewer arenas: less memory, more contention",
        ),
        (
            "glibc.malloc.tcache_count",
            &[0, 64, 127],
            "blocks kept for each size by each thread",
        ),
        (
            "glibc.malloc.mmap_threshold",
            &[1 << 26],
            "large blocks from the heap, not from the system each time",
        ),
        (
            "glibc.malloc.trim_threshold",
            &[1 << 30],
            "freed memory is kept, not given back each time",
        ),
        (
            "glibc.malloc.top_pad",
            &[16 << 20],
            "memory is fetched in larger pieces",
        ),
        ("glibc.malloc.hugetlb", &[1], "huge pages for the heap"),
    ];
    os::loader::tunables()
        .into_iter()
        .flat_map(|tunable| {
            let known = VALUES.iter().find(|(name, ..)| *name == tunable.name);
            let (values, why): (&[u64], &str) = known.map_or((&[], ""), |(_, values, why)| (values, why));
            let name = tunable.name;
            values
                .iter()
                .map(move |value| (format!("{name}={value}"), why.to_owned()))
                .collect::<Vec<_>>()
        })
        .collect()
}

//! The ways of linking a set: each changes one thing of the plainest.

use image::generate::{Hash, Linkage, Set};
use measure::benchmark::Subject;
use measure::model::Support;

/// A way of linking.
pub struct Way {
    /// Its name after the `@`.
    pub name: &'static str,
    summary: &'static str,
    /// Whether it takes part without being asked for.
    by_default: bool,
    /// What it changes of the plainest set.
    pub apply: fn(&mut Set),
}

/// What is done to a set after it was linked, as the article's tools did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Nothing: all libraries ask for the same address, or for none.
    None,
    /// REBASE: each gets an address of its own, and what depends on it is written into the files.
    Based,
    /// REBASE and then BIND: the addresses of all imports are written into the files too.
    Bound,
}

/// The subjects that are treated sets: all of PE, the baseline first, and the last two of ELF as well.
pub const TREATMENTS: &[(&str, Treatment, &str)] = &[
    (
        "default",
        Treatment::None,
        "PE: as linked, all libraries ask for the same address",
    ),
    (
        "based",
        Treatment::Based,
        "each library has an address of its own (REBASE, image rebase)",
    ),
    (
        "bound",
        Treatment::Bound,
        "based, and the addresses of all imports stand in the files (BIND, image bind)",
    ),
];

/// The ways of linking ELF sets; the baseline first.
pub const WAYS: &[Way] = &[
    Way {
        name: "stock",
        summary: "libraries as a compiler links them by itself: bound at the first call, GNU hash table",
        by_default: true,
        apply: |_| {},
    },
    Way {
        name: "now",
        summary: "all functions are bound at the start (-z now)",
        by_default: true,
        apply: |set| set.now = true,
    },
    Way {
        name: "no_plt",
        summary: "calls go through pointers, which are bound at the start (-fno-plt)",
        by_default: true,
        apply: |set| set.no_plt = true,
    },
    Way {
        name: "sysv_hash",
        summary: "bound at the start, with the hash table of System V instead of GNU's",
        by_default: true,
        apply: |set| (set.now, set.hash) = (true, Hash::Sysv),
    },
    Way {
        name: "symbolic",
        summary: "libraries bind their own symbols to themselves (-Bsymbolic)",
        by_default: true,
        apply: |set| set.symbolic = true,
    },
    Way {
        name: "protected",
        summary: "no other library can take the place of a library's symbols (-fvisibility=protected)",
        by_default: false,
        apply: |set| set.protected = true,
    },
    Way {
        name: "relr",
        summary: "relative relocations are packed (-z pack-relative-relocs)",
        by_default: true,
        apply: |set| set.relr = true,
    },
    Way {
        name: "merged",
        summary: "one library with everything",
        by_default: true,
        apply: |set| set.linkage = Linkage::Merged,
    },
    Way {
        name: "static_pie",
        summary: "no libraries; the program relocates itself after its entry",
        by_default: true,
        apply: |set| set.linkage = Linkage::StaticPie,
    },
    Way {
        name: "static",
        summary: "no libraries, and nothing to relocate: the floor",
        by_default: true,
        apply: |set| set.linkage = Linkage::Static,
    },
];

/// Whether programs of ELF are started in this way: one of linking, or a treatment that is not the plainest way under
/// another name.
pub(super) fn starts(subject: &str) -> bool {
    let treated = TREATMENTS
        .iter()
        .any(|(name, treatment, _)| *name == subject && *treatment != Treatment::None);
    treated || WAYS.iter().any(|way| way.name == subject)
}

/// Every subject of the load suite.
#[must_use]
pub fn all() -> Vec<Subject> {
    let ways = WAYS.iter().map(|way| (way.name, way.summary, way.by_default));
    let treatments = TREATMENTS
        .iter()
        .map(|(name, _, summary)| (*name, *summary, true));
    ways.chain(treatments)
        .map(|(name, summary, by_default)| Subject {
            name: name.to_owned(),
            summary: summary.to_owned(),
            support: Support::Yes,
            environment: Vec::new(),
            by_default,
        })
        .collect()
}

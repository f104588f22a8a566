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

/// The baseline first.
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

/// Every subject of the load suite.
#[must_use]
pub fn all() -> Vec<Subject> {
    WAYS.iter()
        .map(|way| Subject {
            name: way.name.to_owned(),
            summary: way.summary.to_owned(),
            support: Support::Yes,
            environment: Vec::new(),
            by_default: way.by_default,
        })
        .collect()
}

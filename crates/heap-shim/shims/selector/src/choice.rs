//! From the rules and the program to a heap.

use core::ffi::c_ulong;

use select_rules::Heap;

use crate::raw;
use crate::sources;

/// The longest path that Linux handles, PATH_MAX.
const PATH_LIMIT: usize = 4096;

/// What the kernel adds to the path of a program whose file has been removed, proc(5).
const DELETED: &[u8] = b" (deleted)";

/// "The process gained privileges", getauxval(3).
const AT_SECURE: c_ulong = 23;

unsafe extern "C" {
    safe fn getauxval(kind: c_ulong) -> c_ulong;
}

/// The heap for this process.
///
/// A process with more privileges than its user gets the system's heap whatever the rules say: a user must not
/// choose the code that runs with somebody else's rights.
pub fn choose() -> Heap {
    if getauxval(AT_SECURE) != 0 {
        return Heap::System;
    }
    sources::with_rules(|rules| {
        let mut buffer = [0; PATH_LIMIT];
        match raw::read_link(c"/proc/self/exe", &mut buffer) {
            Some(path) => select_rules::choose(rules, path.strip_suffix(DELETED).unwrap_or(path)),
            None => Heap::System,
        }
    })
    .unwrap_or(Heap::System)
}

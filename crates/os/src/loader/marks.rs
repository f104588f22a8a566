//! How heaps betray themselves inside a program that brings its own.
//!
//! Three marks, from the surest to the weakest: a library that the program needs, a symbol that it
//! defines or asks for, and a text that a heap's messages or settings leave in a program without symbols.

/// A heap by the beginning of the library's name.
const LIBRARIES: [(&str, &str); 11] = [
    ("libjemalloc", "jemalloc"),
    ("libtcmalloc", "tcmalloc"),
    ("libmimalloc", "mimalloc"),
    ("libtbbmalloc", "tbbmalloc"),
    ("libhoard", "hoard"),
    ("librpmalloc", "rpmalloc"),
    ("libsnmalloc", "snmalloc"),
    ("libhardened_malloc", "hardened_malloc"),
    ("mimalloc", "mimalloc"),
    ("jemalloc", "jemalloc"),
    ("tbbmalloc", "tbbmalloc"),
];

/// A heap by a function of its interface that nothing else has.
const SYMBOLS: [(&str, &str); 24] = [
    ("je_malloc", "jemalloc"),
    ("je_mallocx", "jemalloc"),
    ("je_mallctl", "jemalloc"),
    ("_rjem_malloc", "jemalloc"),
    ("_rjem_mallocx", "jemalloc"),
    ("_rjem_mallctl", "jemalloc"),
    ("mallocx", "jemalloc"),
    ("rallocx", "jemalloc"),
    ("mi_malloc", "mimalloc"),
    ("mi_malloc_aligned", "mimalloc"),
    ("mi_heap_malloc", "mimalloc"),
    ("mi_free", "mimalloc"),
    ("tc_malloc", "tcmalloc"),
    ("tc_new", "tcmalloc"),
    ("TCMallocInternalMalloc", "tcmalloc"),
    ("rpmalloc", "rpmalloc"),
    ("rpmalloc_initialize", "rpmalloc"),
    ("sn_malloc", "snmalloc"),
    ("sn_alloc", "snmalloc"),
    ("sn_rust_alloc", "snmalloc"),
    ("scalable_malloc", "tbbmalloc"),
    ("h_malloc", "hardened_malloc"),
    ("xxmalloc", "hoard"),
    ("dlmalloc", "dlmalloc"),
];

/// A heap by a text in the program's constants.
pub(super) const TEXTS: [(&str, &str); 5] = [
    ("<jemalloc>: ", "jemalloc"),
    ("mimalloc: warning: ", "mimalloc"),
    ("TCMALLOC_SAMPLE_PARAMETER", "tcmalloc"),
    ("Scudo ERROR", "scudo"),
    ("fatal allocator error: ", "hardened_malloc"),
];

/// The heap that a needed library is.
pub(super) fn by_library(name: &str) -> Option<&'static str> {
    LIBRARIES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, heap)| *heap)
}

/// The heap that a symbol belongs to.
pub(super) fn by_symbol(name: &[u8]) -> Option<&'static str> {
    SYMBOLS
        .iter()
        .find(|(symbol, _)| symbol.as_bytes() == name)
        .map(|(_, heap)| *heap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_are_recognised() {
        assert_eq!(by_library("libjemalloc.so.2"), Some("jemalloc"));
        assert_eq!(by_library("libtcmalloc_minimal.so.4"), Some("tcmalloc"));
        assert_eq!(by_library("mimalloc-override.dll"), Some("mimalloc"));
        assert_eq!(by_library("libc.so.6"), None);
        assert_eq!(by_symbol(b"_rjem_mallocx"), Some("jemalloc"));
        assert_eq!(by_symbol(b"mi_free"), Some("mimalloc"));
        assert_eq!(by_symbol(b"malloc"), None);
        assert_eq!(by_symbol(b""), None);
    }
}

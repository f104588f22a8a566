//! How heaps betray themselves inside a program that brings its own.
//!
//! Three marks, from the surest to the weakest: a library that the program needs, a symbol that it
//! defines or asks for, and a text that a heap's messages or settings leave in a program without symbols.

use memchr::memmem::Finder;

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

/// A heap by a text in the program's constants, spelt backwards: this program must not find them in itself.
const STXET: [(&str, &str); 5] = [
    (" :>collamej<", "jemalloc"),
    (" :gninraw :collamim", "mimalloc"),
    ("RETEMARAP_ELPMAS_COLLAMCT", "tcmalloc"),
    ("RORRE oducS", "scudo"),
    (" :rorre rotacolla lataf", "hardened_malloc"),
];

/// Finds the texts that heaps leave in a program.
pub(super) struct Texts(Vec<(Finder<'static>, &'static str)>);

impl Texts {
    pub(super) fn new() -> Self {
        let forwards = |text: &str| text.bytes().rev().collect::<Vec<u8>>();
        Self(
            STXET
                .iter()
                .map(|(text, heap)| (Finder::new(&forwards(text)).into_owned(), *heap))
                .collect(),
        )
    }

    /// The heap that one of the texts in `bytes` belongs to.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<&'static str> {
        self.0
            .iter()
            .find(|(finder, _)| finder.find(bytes).is_some())
            .map(|(_, heap)| *heap)
    }
}

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

    #[test]
    fn texts_are_found_forwards_only() {
        let texts = Texts::new();
        assert_eq!(texts.find(b"x\0mimalloc: warning: no memory\0"), Some("mimalloc"));
        assert_eq!(texts.find(b"TCMALLOC_SAMPLE_PARAMETER"), Some("tcmalloc"));
        assert_eq!(texts.find(STXET[0].0.as_bytes()), None);
    }
}

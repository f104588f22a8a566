//! Recognising preloadable heaps by the names under which they are installed.

/// The heap that a library file is, by its base name; `None` for all others, and for variants that only help
/// to find errors (debug builds, profilers).
pub(super) fn by_file_name(file: &str) -> Option<&'static str> {
    let (stem, version) = file.split_once(".so")?;
    if !version.is_empty() && !version.starts_with('.') {
        return None;
    }
    Some(match stem {
        "libtcmalloc" => "tcmalloc",
        "libtcmalloc_minimal" => "tcmalloc_minimal",
        "libjemalloc" => "jemalloc",
        "libmimalloc" => "mimalloc",
        "libmimalloc-secure" => "mimalloc-secure",
        "libtbbmalloc_proxy" => "tbbmalloc_proxy",
        "libhoard" => "hoard",
        "librpmalloc" | "librpmallocwrap" => "rpmalloc",
        "libsnmallocshim" | "libsnmalloc" => "snmalloc",
        "libhardened_malloc" => "hardened_malloc",
        "libscudo" => "scudo",
        _ if stem.starts_with("libclang_rt.scudo_standalone") => "scudo",
        _ => return None,
    })
}

/// The order among several installed versions of one heap: the higher number wins, a plain `.so` comes last because
/// it is a link to one of them.
pub(super) fn version(file: &str) -> Vec<u64> {
    let version = file.split_once(".so").map_or("", |(_, version)| version);
    version.split('.').filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions() {
        assert_eq!(
            by_file_name("libtcmalloc_minimal.so.4.5.9"),
            Some("tcmalloc_minimal")
        );
        assert_eq!(by_file_name("libjemalloc.so.2"), Some("jemalloc"));
        assert_eq!(by_file_name("libmimalloc.so"), Some("mimalloc"));
        assert_eq!(
            by_file_name("libclang_rt.scudo_standalone-x86_64.so"),
            Some("scudo")
        );
        assert_eq!(by_file_name("libtcmalloc_and_profiler.so.4"), None);
        assert_eq!(by_file_name("libmimalloc.sorry"), None);
        assert_eq!(by_file_name("libmimalloc.a"), None);
        assert!(version("libmimalloc.so.2.10") > version("libmimalloc.so.2.9"));
        assert!(version("libmimalloc.so.2") > version("libmimalloc.so"));
    }
}

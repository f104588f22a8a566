//! What the libraries look like to the dynamic loader: no surprises for a program that did not ask for them.

use std::collections::BTreeSet;

use underhood_shim_tests::FORWARDING;
use underhood_shim_tests::REPLACING;
use underhood_shim_tests::all_shims;
use underhood_shim_tests::inspect;
use underhood_shim_tests::say;
use underhood_shim_tests::shim;

/// Every door to the heap.
const SURFACE: [&str; 38] = [
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "cfree",
    "malloc_trim",
    "mallinfo",
    "mallinfo2",
    "malloc_stats",
    "malloc_info",
    "mallopt",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
];

const SECOND_NAMES: [&str; 7] = [
    "__libc_malloc",
    "__libc_free",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_memalign",
    "__libc_valloc",
    "__libc_pvalloc",
];

#[test]
fn exactly_the_surface_is_exported() {
    for heap in all_shims() {
        let found: BTreeSet<String> = inspect("nm", &["-D", "--defined-only", "--format=posix"], &shim(heap))
            .iter()
            .filter_map(|line| line.split(' ').next().map(str::to_owned))
            .collect();
        let mut expected: BTreeSet<String> = SURFACE.iter().map(|name| (*name).to_owned()).collect();
        expected.insert("underhood_heap_name".into());
        if heap == "selector" {
            expected.insert("underhood_selector_table".into());
        } else if !FORWARDING.contains(&heap) {
            expected.extend(SECOND_NAMES.map(str::to_owned));
        }
        assert_eq!(found, expected, "{heap}");
    }
}

#[test]
fn only_the_c_library_is_needed() {
    for heap in all_shims() {
        for line in inspect("readelf", &["-dW"], &shim(heap))
            .iter()
            .filter(|line| line.contains("(NEEDED)"))
        {
            assert!(
                line.contains("[libc.so.6]") || line.contains("[ld-linux"),
                "{heap}: {line}"
            );
        }
    }
}

/// A weak reference may stay open, any other would stop a C program from starting.
#[test]
fn the_cxx_library_is_referred_to_weakly() {
    for heap in all_shims() {
        for line in inspect("readelf", &["--dyn-syms", "-W"], &shim(heap)) {
            let is_cxx = line.contains("__cxa_") && !line.contains("@GLIBC")
                || line.contains("__gxx_")
                || line.contains("_ZSt");
            assert!(
                !is_cxx || !line.contains(" UND ") || line.contains(" WEAK "),
                "{heap}: {line}"
            );
        }
    }
}

/// DTPMOD: the general model, which allocates in the first access. IRELATIVE: a message of the loader on standard
/// error in every process (glibc 2.36).
#[test]
fn thread_local_storage_is_static_and_nothing_is_indirect() {
    for heap in all_shims() {
        for line in inspect("readelf", &["-rW"], &shim(heap)) {
            assert!(
                !line.contains("DTPMOD") && !line.contains("TLSDESC"),
                "{heap}: {line}"
            );
            assert!(!line.contains("IRELATIV"), "{heap}: {line}");
        }
        for line in inspect("readelf", &["--dyn-syms", "-W"], &shim(heap)) {
            assert!(!line.contains(" IFUNC "), "{heap}: {line}");
        }
    }
}

/// Bytes of static TLS. glibc reserves 512 for libraries that are loaded late; preloaded ones are not limited.
fn tls_bytes(heap: &str) -> u64 {
    let lines = inspect("readelf", &["-lW"], &shim(heap));
    let Some(segment) = lines.iter().find(|line| line.trim_start().starts_with("TLS ")) else {
        return 0;
    };
    let size = segment
        .split_whitespace()
        .nth(5)
        .expect("a segment has a memory size");
    u64::from_str_radix(size.trim_start_matches("0x"), 16).expect("a size is hexadecimal")
}

#[test]
fn thread_local_storage_is_small() {
    let limits = [
        ("mimalloc", 64),
        ("snmalloc", 64),
        ("single_lock", 0),
        ("jemalloc", 2560),
        ("selector", 2688),
    ];
    for (heap, limit) in limits {
        let bytes = tls_bytes(heap);
        say(&format!("{heap}: {bytes} bytes of static TLS"));
        assert!(bytes <= limit, "{heap}: {bytes} bytes");
    }
}

/// The first instructions of an exported function.
fn code_of(heap: &str, function: &str) -> Vec<String> {
    let lines = inspect("nm", &["-D", "--format=posix"], &shim(heap));
    let symbol = lines
        .iter()
        .find(|line| line.split(' ').next() == Some(function))
        .expect("the function is exported");
    let address = symbol
        .split(' ')
        .nth(2)
        .expect("a symbol has an address")
        .to_owned();
    let start = u64::from_str_radix(&address, 16).expect("an address is hexadecimal");
    let range = [
        format!("--start-address={start}"),
        format!("--stop-address={}", start + 24),
    ];
    inspect(
        "objdump",
        &["-d", "--no-show-raw-insn", &range[0], &range[1]],
        &shim(heap),
    )
    .iter()
    .filter_map(|line| {
        line.split_once(":\t")
            .map(|(_, instruction)| instruction.trim().to_owned())
    })
    .collect()
}

/// The plain path enters the heap at once: in a shim it *is* the heap's function, in the selector a load and a jump.
#[test]
#[cfg(target_arch = "x86_64")]
fn malloc_and_free_lead_straight_into_the_heap() {
    for function in ["malloc", "free"] {
        for heap in REPLACING {
            let code = code_of(heap, function);
            assert!(!code[0].starts_with("jmp"), "{heap} {function}: {code:?}");
        }
        let code = code_of("selector", function);
        let jump = code.iter().position(|instruction| instruction.starts_with("jmp"));
        assert!(
            jump.is_some_and(|jump| jump <= 1),
            "selector {function}: {code:?}"
        );
    }
}

/// In a process that keeps the system's heap, no other heap may start.
#[test]
fn the_selector_has_no_constructors() {
    let lines = inspect("readelf", &["-SW"], &shim("selector"));
    let array = lines
        .iter()
        .find(|line| line.contains(".init_array"))
        .expect("the C start-up code has an entry");
    let mut fields = array
        .split_whitespace()
        .skip_while(|field| *field != "INIT_ARRAY");
    let size = fields.nth(3).expect("a section has a size");
    assert_eq!(u64::from_str_radix(size, 16), Ok(8), "{array}");
}

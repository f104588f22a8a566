//! Checks that the settings of this workspace have reached the C++ compiler.

fn main() {
    let Ok(target) = std::env::var("TARGET") else {
        return;
    };
    let variable = format!("CXXFLAGS_{}", target.replace('-', "_"));
    println!("cargo:rerun-if-env-changed={variable}");
    let flags = std::env::var(&variable).unwrap_or_default();
    assert!(
        flags.contains("SNMALLOC_PTHREAD_FORK_PROTECTION"),
        "build snmalloc: {variable} lacks the macros of crates/heap-shim/.cargo/config.toml; \
         start cargo in that folder",
    );
}

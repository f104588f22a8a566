//! Links the launcher as a static program without start-up files and without a C library.
//!
//! The compiler driver is told by link arguments, not by a target specification, so that an ordinary
//! `cargo build` with the stable toolchain produces the same file everywhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        "-nostartfiles",
        "-nostdlib",
        "-static",
        "-no-pie",
        // A program of four pages: no build note, no read-only relocations, sections that are not used go.
        "-Wl,--build-id=none",
        "-Wl,-z,norelro",
        "-Wl,-z,noexecstack",
        "-Wl,--gc-sections",
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

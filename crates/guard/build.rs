//! Links the guard as a program without start-up files, without a C library and without an interpreter.
//!
//! It is a position-independent file that is right at any address as it stands: whoever fills it moves its segments and
//! changes nothing else. Told by link arguments, so that an ordinary `cargo build` with the stable toolchain produces it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        "-nostartfiles",
        "-nostdlib",
        "-static-pie",
        "-Wl,--build-id=none",
        // No part of the data becomes read-only later: nobody relocates this file, so nobody would do it.
        "-Wl,-z,norelro",
        "-Wl,-z,noexecstack",
        // Few segments, without gaps: each is a mapping that the kernel makes at every start.
        "-Wl,-z,noseparate-code",
        "-Wl,-z,max-page-size=4096",
        "-Wl,--no-eh-frame-hdr",
        "-Wl,--gc-sections",
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

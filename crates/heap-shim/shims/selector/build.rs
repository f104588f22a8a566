//! Link arguments; see `shim_build`. The linker script `no-constructors.ld` removes the heaps' constructors.

use std::path::Path;

fn main() {
    shim_build::emit(shim_build::Wraps::KeepErrnoAndMimalloc);
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&folder).join("no-constructors.ld");
    println!("cargo:rerun-if-changed=no-constructors.ld");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-T,{}", script.display());
}

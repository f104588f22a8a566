//! Link arguments; see `shim_build`.

fn main() {
    shim_build::emit(shim_build::Wraps::KeepErrnoAndMimalloc);
}

//! Link arguments; see `shim_build`.

fn main() {
    shim_build::emit(shim_build::Wraps::KeepErrnoAndMimalloc);
    shim_build::enter_directly("mi_");
}

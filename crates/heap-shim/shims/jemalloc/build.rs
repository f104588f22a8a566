//! Link arguments; see `shim_build`.

fn main() {
    shim_build::emit(shim_build::Wraps::KeepErrno);
    shim_build::enter_directly("_rjem_");
}

//! mimalloc names its mappings with prctl(2), so that `/proc/PID/maps` shows `[anon:mimalloc]`.
//!
//! Pretty, but a system call for every mapping, and one that sandboxes made for glibc's heap do not know: the
//! program would be killed for it. Naming is left out; every other request passes.

use core::ffi::c_int;
use core::ffi::c_ulong;

use surface::hidden_symbols;

/// PR_SET_VMA, "set an attribute of a mapping".
const SET_VMA: c_int = 0x5356_4d41;

unsafe extern "C" {
    fn __real_prctl(option: c_int, ...) -> c_int;
}

extern "C" fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
    if option == SET_VMA {
        return 0;
    }
    // SAFETY: the caller's arguments pass through unchanged.
    unsafe { __real_prctl(option, a, b, c, d) }
}

hidden_symbols! {
    "__wrap_prctl" => prctl;
}

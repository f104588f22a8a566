//! Where the rules come from.
//!
//! The person's rules are in the environment. The library may be asked for memory before the C library has set
//! `environ`, so the fallback is the place where the kernel wrote the environment: above the arguments on the first
//! stack, which the dynamic loader remembers in `__libc_stack_end`. The machine's rules are in a file, because a
//! library that `/etc/ld.so.preload` names reaches programs that have no environment to speak of.

use core::ffi::CStr;
use core::ffi::c_char;

use crate::raw;

/// The variable that holds the rules. Set but empty, it means "no rules", also none from the file.
const VARIABLE: &[u8] = b"UNDERHOOD_HEAP_SELECT=";

/// The machine's rules, used where the variable is not set.
const SYSTEM_FILE: &CStr = c"/etc/underhood/heap-select";

/// The largest file that is read; a larger one counts as faulty.
const SYSTEM_FILE_LIMIT: usize = 64 * 1024;

unsafe extern "C" {
    static environ: *const *const c_char;
    static __libc_stack_end: *const *const c_char;
}

/// Calls `use_rules` with the text of the rules that hold for this process. `None` when there are none.
pub fn with_rules<T>(use_rules: impl FnOnce(&[u8]) -> T) -> Option<T> {
    if let Some(text) = from_environment() {
        return Some(use_rules(text));
    }
    let file = raw::open(SYSTEM_FILE)?;
    raw::with_buffer(SYSTEM_FILE_LIMIT, |buffer| file.read(buffer).map(use_rules)).flatten()
}

/// The value of the variable, straight from the process's memory.
fn from_environment() -> Option<&'static [u8]> {
    // SAFETY: reads a pointer of the C library that only single-threaded start-up code or setenv(3) writes.
    let mut entry = unsafe { environ };
    if entry.is_null() {
        entry = first_environment()?;
    }
    loop {
        // SAFETY: the environment is an array of C strings that ends with a null pointer, environ(7).
        let text = unsafe { *entry };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, so a C string that lives as long as the environment.
        let text = unsafe { CStr::from_ptr(text) };
        if let Some(value) = text.to_bytes().strip_prefix(VARIABLE) {
            return Some(value);
        }
        // SAFETY: the end has not been reached.
        entry = unsafe { entry.add(1) };
    }
}

/// The environment as the kernel laid it out: the number of arguments, the arguments, null, the environment.
fn first_environment() -> Option<*const *const c_char> {
    // SAFETY: reads a pointer that the dynamic loader sets before it loads the first library.
    let stack = unsafe { __libc_stack_end };
    if stack.is_null() {
        return None;
    }
    // SAFETY: the loader keeps the address at which the kernel started the process, where this number stands.
    let count = unsafe { stack.cast::<usize>().read() };
    // SAFETY: the arguments follow the number, and a null pointer follows them.
    let end_of_arguments = unsafe { stack.add(1 + count) };
    // SAFETY: within the same block of memory.
    let end = unsafe { *end_of_arguments };
    // A loader that lays out something else is recognised by this.
    // SAFETY: the environment begins after the null pointer.
    end.is_null().then(|| unsafe { end_of_arguments.add(1) })
}

//! Variables that make the loader find or bind otherwise than it did when the program was bound.
//!
//! Which loader variables are harmless is known; every other is taken for one that is not, also those that a later glibc
//! may learn. Source: `ld.so(8)`; `elf/rtld.c` of glibc, `process_envvars`.

use crate::checks::Reason;
use crate::stack::Stack;
use crate::text::Text;

/// Looks at all variables.
pub fn check(stack: &Stack) -> Result<(), Reason> {
    for variable in stack.variables() {
        if let Some(rest) = variable.after(b"LD_") {
            if matters(rest) {
                return Err(Reason {
                    before: b"",
                    what: name(variable),
                    after: b" is set",
                });
            }
        } else if let Some(value) = variable.after(b"GLIBC_TUNABLES=")
            && (value.contains(b"glibc.cpu.") || value.contains(b"glibc.rtld."))
        {
            return Err(Reason::plain(b"GLIBC_TUNABLES changes how the loader works"));
        }
    }
    Ok(())
}

/// Whether somebody wants to hear why a program does not run bound.
pub fn is_verbose(stack: &Stack) -> bool {
    stack
        .variables()
        .any(|variable| variable.after(b"UNDERHOOD_VERBOSE=1").is_some_and(is_empty))
}

/// Whether a variable matters, of which the name behind `LD_` and the value are given.
fn matters(rest: Text) -> bool {
    // Those that tell the loader what to say and when to bind functions.
    let harmless = rest.after(b"DEBUG=").is_some()
        || rest.after(b"DEBUG_OUTPUT=").is_some()
        || rest.after(b"BIND_NOW=").is_some()
        || rest.after(b"BIND_NOT=").is_some()
        || rest.after(b"SHOW_AUXV=").is_some()
        || rest.after(b"VERBOSE=").is_some()
        || rest.after(b"WARN=").is_some()
        || rest.after(b"TRACE_LOADED_OBJECTS=").is_some();
    // Scripts empty these in place of removing them, and the loader ignores them then. Others act by being there.
    let ignored = rest.after(b"PRELOAD=").is_some_and(is_empty)
        || rest.after(b"LIBRARY_PATH=").is_some_and(is_empty)
        || rest.after(b"AUDIT=").is_some_and(is_empty);
    !harmless && !ignored
}

fn is_empty(text: Text) -> bool {
    text.bytes().next().is_none()
}

/// The name of a variable.
fn name(variable: Text) -> &'static [u8] {
    let length = variable.bytes().take_while(|byte| *byte != b'=').count();
    variable.as_slice().get(..length).unwrap_or_default()
}

//! What happens between the kernel and the loader.
#![expect(unsafe_code, reason = "takes over the stack from the kernel")]

use crate::layout::ORIGINAL;
use crate::plan::Plan;
use crate::stack::{AT_BASE, AT_EXECFN, Stack};
use crate::{checks, fallback, loader};

/// Called by the entry point with the initial stack pointer; returns the address to go on at.
///
/// # Safety
/// Only the entry point may call this, once.
pub unsafe extern "C" fn start(pointer: *mut usize) -> usize {
    // SAFETY: the entry point passes what the kernel gave, and nothing was changed since.
    let stack = unsafe { Stack::new(pointer) };
    let plan = Plan::find();
    match checks::all(plan, &stack).and_then(|()| loader::map(plan)) {
        Ok(loader) => {
            fallback::rename(plan, &stack);
            stack.set(AT_BASE, loader.base);
            stack.set(AT_EXECFN, plan.text(plan.word(ORIGINAL)).address());
            loader.entry
        }
        Err(reason) => fallback::run(plan, &stack, &reason),
    }
}

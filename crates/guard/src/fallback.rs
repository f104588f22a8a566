//! The way out: the original program, as if it had been called in the first place.
#![expect(unsafe_code, reason = "hands the stack's arrays to execve")]

use crate::checks::Reason;
use crate::environment;
use crate::layout::ORIGINAL;
use crate::plan::Plan;
use crate::stack::Stack;
use crate::sys::{self, Errno};
use crate::text::Text;

/// Executes the original in place of the copy.
pub fn run(plan: Plan, stack: &Stack, reason: &Reason) -> ! {
    let original = plan.text(plan.word(ORIGINAL));
    let path = original.as_slice();
    if environment::is_verbose(stack) {
        let Reason { before, what, after } = reason;
        sys::complain([
            b"underhood: ",
            path,
            b" runs unbound: ",
            before,
            what,
            after,
            b"\n",
        ]);
    }
    // Somebody put the copy in the original's place: to execute that would lead here again, for ever.
    if stack.executed().is_some_and(|executed| executed.is(original)) {
        sys::complain([
            b"underhood: ",
            path,
            b" is the bound copy of itself; the original is lost\n",
        ]);
        sys::exit(126)
    }
    rename(plan, stack);
    // SAFETY: both arrays are the kernel's own, ended by null.
    let errno = unsafe { sys::execute(original, stack.argv(), stack.envp()) };
    sys::complain([
        b"underhood: ",
        path,
        b" cannot be executed in place of its bound copy\n",
    ]);
    sys::exit(if errno == Errno::ENOENT { 127 } else { 126 })
}

/// Gives the program the name of the original, where the first argument is the path of the copy.
pub fn rename(plan: Plan, stack: &Stack) {
    let is_path = |first: Text| {
        first.bytes().any(|byte| byte == b'/') && stack.executed().is_some_and(|executed| first.is(executed))
    };
    if stack.first_argument().is_some_and(is_path) {
        stack.set_first_argument(plan.text(plan.word(ORIGINAL)));
    }
}

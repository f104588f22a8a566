//! Is everything as it was when the program was bound? Each question, in the order of what it costs.

use crate::environment;
use crate::layout::{ABSENT, HWCAP, HWCAP2, RANGES, WATCHED};
use crate::plan::Plan;
use crate::stack::{AT_HWCAP, AT_HWCAP2, AT_SECURE, Stack};
use crate::sys::{self, Errno};
use crate::text::Text;

/// Why a program does not run bound: three pieces of one phrase.
pub struct Reason {
    /// What comes first.
    pub before: &'static [u8],
    /// What it is about.
    pub what: &'static [u8],
    /// What is said of it.
    pub after: &'static [u8],
}

impl Reason {
    /// A reason that is about nothing in particular.
    pub const fn plain(text: &'static [u8]) -> Self {
        Self {
            before: text,
            what: b"",
            after: b"",
        }
    }

    /// A reason that is about a file.
    pub fn of_file(path: Text, after: &'static [u8]) -> Self {
        Self {
            before: b"",
            what: path.as_slice(),
            after,
        }
    }
}

/// Asks all questions.
pub fn all(plan: Plan, stack: &Stack) -> Result<(), Reason> {
    machine(plan, stack)?;
    environment::check(stack)?;
    files(plan)?;
    addresses(plan)
}

fn machine(plan: Plan, stack: &Stack) -> Result<(), Reason> {
    if stack.value(AT_SECURE) != 0 {
        return Err(Reason::plain(
            b"it runs with more rights than its user (AT_SECURE)",
        ));
    }
    let had = [plan.word(HWCAP), plan.word(HWCAP2)];
    if had == [stack.value(AT_HWCAP) as u64, stack.value(AT_HWCAP2) as u64] {
        Ok(())
    } else {
        Err(Reason::plain(b"this processor has other abilities (AT_HWCAP)"))
    }
}

fn files(plan: Plan) -> Result<(), Reason> {
    for [path, was @ ..] in plan.table(WATCHED) {
        let path = plan.text(*path);
        match sys::identity(path) {
            Ok(is) if is == *was => {}
            Ok(_) => return Err(Reason::of_file(path, b" has changed")),
            Err(_) => return Err(Reason::of_file(path, b" cannot be found any more")),
        }
    }
    for [path] in plan.table(ABSENT) {
        let path = plan.text(*path);
        match sys::identity(path) {
            Err(Errno::ENOENT | Errno::ENOTDIR) => {}
            _ => return Err(Reason::of_file(path, b" was not there before")),
        }
    }
    Ok(())
}

fn addresses(plan: Plan) -> Result<(), Reason> {
    let free = |[begin, length]: &[u64; 2]| sys::is_free(*begin as usize, *length as usize);
    if plan.table(RANGES).iter().all(free) {
        Ok(())
    } else {
        Err(Reason::plain(b"its addresses are taken"))
    }
}

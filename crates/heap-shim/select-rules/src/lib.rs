//! Which heap for which program: the rules of `UNDERHOOD_HEAP_SELECT`.
//!
//! One library is preloaded into every program that a person starts, and a text of a line or two says what it
//! should do in each:
//!
//! ```text
//! *=mimalloc;/usr/bin/buggy=system;*/java=jemalloc
//! ```
//!
//! The text is read twice, by two very different readers. The command line tool reads it when a person types it,
//! and must name the fault and its place ([`parse`]). The preloaded library reads it in the first `malloc` of
//! somebody else's program, where it must not allocate, not fail, not be slow and not say a word ([`choose`]). Both
//! live here, so that they cannot disagree.
//!
//! # The language
//!
//! A text is a list of rules, separated by `;` or line ends. Blanks around a rule, a pattern and a heap are ignored,
//! and so are empty rules and rules that begin with `#` (to the end of the line).
//!
//! A rule is `PATTERN=HEAP`, split at its last `=`. In a pattern `*` stands for any bytes, slashes included, and `?`
//! for any one byte. A pattern that contains a slash is compared with the whole path of the program, symbolic links
//! resolved; one without is compared with the last component of the path. The last rule that matches wins. A program
//! that none matches keeps the system's heap.
//!
//! A text with a fault in any rule chooses the system's heap for every program: the rule with the fault may be the
//! one that excludes a program that another heap would break.
#![no_std]
#![forbid(unsafe_code)]

mod error;
mod glob;
mod heap;
mod rules;

pub use error::Error;
pub use error::Fault;
pub use glob::matches;
pub use heap::Heap;
pub use rules::Rule;
pub use rules::Rules;
pub use rules::choose;
pub use rules::parse;

//! Comparing other people's commands: blocks of interleaved runs, and what they prove.
//!
//! | file | what |
//! |---|---|
//! | `block` | one block: every arm once, in random order, with one environment padding |
//! | `compare` | the log ratios of all blocks so far, and the verdicts that follow |
//! | `contest` | a fixed set of arms, until decided: `time --vs` |
//! | `race` | many candidates: screening, racing, confirmation: `tune` |
//! | `launch` | the arm runner that starts real processes |
//! | `visit` | commands timed to a place in their start: `time --to entry` |

pub mod block;
pub mod compare;
pub mod contest;
#[cfg(test)]
pub mod fake;
pub mod launch;
pub mod race;
pub mod visit;

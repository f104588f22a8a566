//! The mathematics with which Underhood turns timings into statements that it can answer for.
//!
//! Timings of programs have heavy tails, drift, ties and now and then a value a hundred times too large, and
//! whoever measures likes to look at the result while it grows and to stop when it pleases. Each of these
//! breaks the textbook formulas: means and standard deviations break on the tails, and a test of fixed size
//! breaks when one looks early. What lives here survives both, or says plainly where it does not.
//!
//! Everything is a pure function of slices: no clock, no file, no global state, and randomness only from a
//! seed that the caller names. So every figure in a report can be computed again from the stored samples.
//!
//! | question | module |
//! |---|---|
//! | What do these numbers look like? | [`summary`] |
//! | Where is their centre, and how sure is that, for a count of trials fixed beforehand? | [`hodges_lehmann`], [`signed_rank`], [`median_interval`] |
//! | The same, while looking after every block? | [`sequence`] (asks nothing of the noise), [`symmetric`] (decides sooner) |
//! | Could chance alone have done this, given that the order was drawn at random? | [`sign_flip`] |
//! | May I say "faster"? | [`mod@verdict`] |
//! | Which of many candidates really help? | [`e_bh`] |
//! | What is the ratio of two unpaired measurements? | [`ratio`] |
//! | Are these rules as good as they claim? | [`simulate`] |
//!
//! Comparisons work on log ratios, `d = ln(candidate / baseline)`: a factor of 2 and a factor of 1/2 are then
//! equally far from "no change", and [`Interval::exp`] leads back to ratios.

mod bets;
pub mod e_bh;
mod halving;
pub mod hodges_lehmann;
mod interval;
pub mod median_interval;
pub mod ratio;
pub mod sequence;
pub mod sign_flip;
pub mod signed_rank;
pub mod simulate;
pub mod special;
pub mod summary;
pub mod symmetric;
pub mod verdict;

pub use interval::Interval;
pub use median_interval::{Estimate, estimate};
pub use sequence::Sequence;
pub use summary::Summary;
pub use symmetric::SymmetricSequence;
pub use verdict::{Verdict, verdict};

//! Making a remedy permanent, and taking that back.
//!
//! Everything here writes into places that belong to somebody: a person's settings, the machine's `/etc`, a folder of scripts.
//! Three promises hold for all of it. What is not ours is never overwritten unless a person insists. What was
//! there before is kept, and undoing brings it back byte for byte, with its owner and mode. And when
//! somebody changed a file after us, their change wins: we take away our part, or refuse.
//!
//! | file | what it makes |
//! |---|---|
//! | [`launcher`] | a shell script that starts one command with a remedy |
//! | [`systemd`] | a drop-in that starts one service with a remedy |
//! | [`selection`] | the heap rules for all programs of a user or a machine |
//! | [`ledger`] | the record of what was changed, and undoing it |
//! | [`library`] | a copy of a carried library in a place that nobody cleans |
//! | [`places`] | where all this lies |
//! | [`state`] | one file as it was |
//! | [`trial`] | whether programs still run before a machine is changed |
//! | [`quote`] | words for shells and for systemd |

pub mod launcher;
pub mod ledger;
pub mod library;
pub mod places;
pub mod quote;
pub mod selection;
pub mod state;
pub mod systemd;
pub mod trial;

//! proofs
fn main() {}

//! Random sizes for the inner loop.
//!
//! The C library's `rand` takes a lock: under threads it would measure itself. Each thread has a xorshift generator
//! of its own, and a multiplication instead of a division brings its number into the range. What that costs is
//! measured by [`empty_ns`] and subtracted.

use std::hint::black_box;

use os::clock::Clock;

/// Turns of the empty loop in one measurement: long beside two readings of the clock, short beside a sample.
const EMPTY_TURNS: u64 = 200_000;

/// A xorshift generator (Marsaglia 2003, the 13-7-17 triple): period 2^64 − 1, good enough to choose sizes.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for one thread of a trial.
    pub fn new(seed: u64, thread: u64) -> Self {
        // SplitMix64's finaliser keeps neighbouring seeds apart; zero is the one state that xorshift never leaves.
        let mut z = seed.wrapping_add((thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((z ^ (z >> 31)) | 1)
    }

    /// A number from 0 to `bound` − 1; 0 when the bound is 0.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(bound)) >> 64) as u64
    }
}

/// Nanoseconds that one turn of a loop takes in which `draws` numbers are drawn and nothing is done with them.
pub fn empty_ns(clock: Clock, draws: u32) -> f64 {
    let mut random = Random::new(1, 0);
    let timed = measure::timed::batch(clock, EMPTY_TURNS, |_| {
        for _ in 0..draws {
            black_box(random.below(black_box(2047)));
        }
    });
    timed.elapsed_ns / timed.operations as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_the_bound_and_reach_it() {
        let mut random = Random::new(7, 0);
        let draws: Vec<u64> = (0..10_000).map(|_| random.below(10)).collect();
        let mut counts = [0_u32; 10];
        draws.iter().for_each(|&draw| counts[draw as usize] += 1);
        assert!(
            counts.iter().all(|&count| (850..1150).contains(&count)),
            "{counts:?}"
        );
        assert_eq!((random.below(1), random.below(0)), (0, 0));
    }

    #[test]
    fn threads_and_seeds_differ() {
        let first = |seed, thread| Random::new(seed, thread).below(u64::MAX);
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
        assert_eq!(first(1, 0), first(1, 0));
    }
}

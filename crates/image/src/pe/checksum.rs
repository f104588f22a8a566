//! The checksum of a file, as `CheckSumMappedFile` computes it.
//!
//! Windows looks at it for drivers and a few libraries of the system only, and many linkers leave 0.

/// The checksum of these bytes when the stored one, of four bytes at `place`, counts as zero.
///
/// The sum of all 16-bit words, carries folded back in, plus the length of the file.
#[must_use]
pub fn of(bytes: &[u8], place: usize) -> u32 {
    let stored = place..place.saturating_add(4);
    let byte = |at: usize| {
        if stored.contains(&at) {
            0
        } else {
            bytes.get(at).copied().unwrap_or(0)
        }
    };
    let mut sum: u64 = 0;
    for (index, pair) in bytes.chunks(2).enumerate() {
        let at = index * 2;
        // Only the few words that touch the stored one need a closer look.
        let word = match pair {
            [low, high] if at + 2 <= stored.start || at >= stored.end => u16::from_le_bytes([*low, *high]),
            _ => u16::from_le_bytes([byte(at), byte(at + 1)]),
        };
        sum += u64::from(word);
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (sum as u32).wrapping_add(bytes.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_summed_with_carries_and_the_length_added() {
        assert_eq!(of(&[0xff, 0xff, 2, 0], 100), 2 + 4);
        assert_eq!(of(&[1, 0, 0xaa, 0xaa, 0xaa, 0xaa, 2, 0], 2), 3 + 8);
        // A last odd byte is a word of its own.
        assert_eq!(of(&[1, 0, 5], 100), 6 + 3);
    }
}

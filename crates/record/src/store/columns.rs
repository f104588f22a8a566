//! Columns of numbers as compressed blobs.
//!
//! A blob is one Zstandard frame of little-endian doubles, so it reads the same on every machine and any tool can
//! unpack it. Several columns of one length stand one after the other: neighbours in a column resemble each
//! other more than the fields of a row do, which is what compression lives on. The number of rows is kept beside the
//! blob; it is what the reader trusts, and it stops when the blob holds more or less than that.

use std::io::Read;

use super::budget::Budget;

/// Cheap and good enough: 3 is Zstandard's own default.
const LEVEL: i32 = 3;

/// A frame may ask for a window of up to 2^27 bytes (128 MiB, the format's recommended limit) and no more.
const WINDOW_LOG: u32 = 27;

/// Packs columns of equal length.
pub(super) fn pack(columns: &[&[f64]]) -> std::io::Result<Vec<u8>> {
    let bytes: Vec<u8> = columns
        .iter()
        .flat_map(|column| column.iter().flat_map(|x| x.to_le_bytes()))
        .collect();
    zstd::bulk::compress(&bytes, LEVEL)
}

/// Unpacks `width` columns of `rows` numbers each; an error text when the blob is not that.
pub(super) fn unpack(
    blob: &[u8],
    rows: usize,
    width: usize,
    budget: &mut Budget,
) -> Result<Vec<Vec<f64>>, String> {
    let count = rows
        .checked_mul(width)
        .ok_or("a column claims to be longer than memory")?;
    budget.spend(
        count
            .checked_mul(8)
            .ok_or("a column claims to be longer than memory")?,
    )?;
    let broken = |error: std::io::Error| format!("a column of samples does not unpack: {error}");
    let mut decoder = zstd::stream::read::Decoder::with_buffer(blob).map_err(broken)?;
    decoder.window_log_max(WINDOW_LOG).map_err(broken)?;
    let mut columns = Vec::with_capacity(width);
    for _ in 0..width {
        columns.push(column(&mut decoder, rows).map_err(broken)?);
    }
    match decoder.read(&mut [0]) {
        Ok(0) => Ok(columns),
        Ok(_) => Err("a column of samples holds more numbers than it should".to_owned()),
        Err(error) => Err(broken(error)),
    }
}

/// Reads one column through a small buffer, so that memory grows with what is really there.
fn column(from: &mut impl Read, rows: usize) -> std::io::Result<Vec<f64>> {
    let mut column = Vec::new();
    let mut buffer = [0_u8; 8 * 1024];
    while column.len() < rows {
        let part = &mut buffer[..8 * (rows - column.len()).min(1024)];
        from.read_exact(part)?;
        column.extend(
            part.chunks_exact(8)
                .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default())),
        );
    }
    Ok(column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_bit_survives() {
        let samples = [
            0.0,
            -0.0,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            1e300,
            f64::from_bits(0x7ff8_0000_0000_beef),
        ];
        let blob = pack(&[&samples, &samples]).unwrap();
        let back = unpack(&blob, samples.len(), 2, &mut Budget::new()).unwrap();
        let bits = |column: &[f64]| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back[0]), bits(&samples));
        assert_eq!(bits(&back[1]), bits(&samples));
        let none = unpack(&pack(&[&[]]).unwrap(), 0, 1, &mut Budget::new()).unwrap();
        assert_eq!(none, [Vec::<f64>::new()]);
    }

    #[test]
    fn a_blob_that_is_longer_or_shorter_than_promised_is_refused() {
        let blob = pack(&[&[1.0, 2.0, 3.0]]).unwrap();
        let error = |rows| unpack(&blob, rows, 1, &mut Budget::new()).unwrap_err();
        assert!(error(2).contains("more numbers"));
        assert!(error(4).contains("does not unpack"));
        assert!(error(usize::MAX / 2).contains("longer than memory"));
        assert!(error(1 << 40).contains("more than 1024 MiB"));
        // A gigabyte of zeros in a small blob: only what was promised is ever unpacked.
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 19).unwrap();
        assert!(bomb.len() < 10_000);
        assert!(
            unpack(&bomb, 8, 1, &mut Budget::new())
                .unwrap_err()
                .contains("more numbers")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damage_is_an_error_or_harmless(
            samples in prop::collection::vec(any::<f64>(), 0..200),
            at in any::<prop::sample::Index>(),
            flip in 1_u8..,
        ) {
            let mut blob = pack(&[&samples]).unwrap();
            let at = at.index(blob.len());
            blob[at] ^= flip;
            if let Ok(columns) = unpack(&blob, samples.len(), 1, &mut Budget::new()) {
                prop_assert_eq!(columns[0].len(), samples.len());
            }
        }
    }
}

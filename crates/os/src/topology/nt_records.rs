//! The records of `GetLogicalProcessorInformationEx`, read by offset from a byte slice: which CPUs make up a core, a
//! socket, a memory node, and share a cache. Offsets are those of 64-bit Windows (winnt.h).

use super::Cpu;
use crate::thread::CpuSet;

const CORE: u32 = 0;
const NODE: u32 = 1;
const CACHE: u32 = 2;
const PACKAGE: u32 = 3;

/// Bytes of `GROUP_AFFINITY`: a mask, the group, and padding.
const GROUP_RECORD: usize = 16;

pub(super) fn cpus(bytes: &[u8]) -> Vec<Cpu> {
    let records: Vec<Record> = Records(bytes).collect();
    let of_kind = |kind| records.iter().filter(move |record| record.kind == kind);
    let cores: Vec<CpuSet> = of_kind(CORE).map(|core| core.cpus(30, 32)).collect();
    let packages: Vec<CpuSet> = of_kind(PACKAGE).map(|package| package.cpus(30, 32)).collect();
    let nodes: Vec<(u32, CpuSet)> = of_kind(NODE)
        .filter_map(|node| Some((u32_at(node.bytes, 8)?, node.cpus(30, 32))))
        .collect();
    let caches: Vec<(u8, CpuSet)> = of_kind(CACHE)
        // Type 1 is an instruction cache.
        .filter(|cache| u32_at(cache.bytes, 16) != Some(1))
        .filter_map(|cache| Some((*cache.bytes.get(8)?, cache.cpus(38, 40))))
        .collect();

    let mut cpus: Vec<Cpu> = Vec::new();
    for siblings in &cores {
        for id in siblings.iter() {
            let last = caches
                .iter()
                .filter(|(_, cpus)| cpus.contains(id))
                .max_by_key(|(level, _)| *level);
            cpus.push(Cpu {
                id,
                core: siblings.first().unwrap_or(id),
                package: packages
                    .iter()
                    .position(|package| package.contains(id))
                    .unwrap_or(0),
                smt_siblings: siblings.iter().collect(),
                llc_id: last.and_then(|(_, cpus)| cpus.first()),
                numa: nodes
                    .iter()
                    .find(|(_, cpus)| cpus.contains(id))
                    .map(|(node, _)| *node as usize),
            });
        }
    }
    cpus.sort_by_key(|cpu| cpu.id);
    cpus
}

struct Record<'a> {
    kind: u32,
    bytes: &'a [u8],
}

impl Record<'_> {
    /// The CPUs of the record's group masks; their number is at `count`, the first at `masks`.
    fn cpus(&self, count: usize, masks: usize) -> CpuSet {
        // Before Windows 10 build 20348 caches and nodes had room for one mask and a zero in place of the number.
        let count = u16_at(self.bytes, count).unwrap_or(0).max(1);
        let groups = self
            .bytes
            .get(masks..)
            .unwrap_or_default()
            .chunks_exact(GROUP_RECORD)
            .take(count.into());
        let mut words = Vec::new();
        for group in groups {
            let number = u16_at(group, 8).unwrap_or(0);
            // No Windows has more; a larger number is not a number of a group.
            if number < 64 {
                let number = usize::from(number);
                words.resize(words.len().max(number + 1), 0);
                words[number] |= u64_at(group, 0).unwrap_or(0);
            }
        }
        CpuSet::from_words(words)
    }
}

struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = u32_at(self.0, 0)?;
        let size = u32_at(self.0, 4)? as usize;
        if size < 8 {
            return None;
        }
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(Record { kind, bytes })
    }
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes
        .get(offset..offset + 2)?
        .try_into()
        .ok()
        .map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes
        .get(offset..offset + 4)?
        .try_into()
        .ok()
        .map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes
        .get(offset..offset + 8)?
        .try_into()
        .ok()
        .map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, size: usize, fill: impl Fn(&mut [u8])) -> Vec<u8> {
        let mut bytes = vec![0_u8; size];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&(size as u32).to_le_bytes());
        fill(&mut bytes);
        bytes
    }

    fn cores(kind: u32, mask: u64, group: u16) -> Vec<u8> {
        record(kind, 48, |bytes| {
            bytes[30] = 1;
            bytes[32..40].copy_from_slice(&mask.to_le_bytes());
            bytes[40..42].copy_from_slice(&group.to_le_bytes());
        })
    }

    fn cache(level: u8, kind: u8, mask: u64) -> Vec<u8> {
        record(CACHE, 56, |bytes| {
            bytes[8] = level;
            bytes[16] = kind;
            bytes[40..48].copy_from_slice(&mask.to_le_bytes());
        })
    }

    #[test]
    fn a_machine_is_understood() {
        let table = [
            cores(CORE, 0b0011, 0),
            cores(CORE, 0b1100, 0),
            cores(CORE, 0b1, 1),
            cores(PACKAGE, 0b1111, 0),
            cores(PACKAGE, 0b1, 1),
            cache(1, 1, 0b1100),
            cache(1, 2, 0b1100),
            cache(3, 0, 0b1111),
            record(NODE, 48, |bytes| {
                bytes[8] = 5;
                bytes[32] = 0b1111;
            }),
        ]
        .concat();
        let machine = cpus(&table);
        let ids: Vec<_> = machine.iter().map(|cpu| cpu.id).collect();
        assert_eq!(ids, [0, 1, 2, 3, 64]);
        let expected = Cpu {
            id: 3,
            core: 2,
            package: 0,
            smt_siblings: vec![2, 3],
            llc_id: Some(0),
            numa: Some(5),
        };
        assert_eq!(machine[3], expected);
        let other = Cpu {
            id: 64,
            core: 64,
            package: 1,
            smt_siblings: vec![64],
            llc_id: None,
            numa: None,
        };
        assert_eq!(machine[4], other);

        for length in 0..table.len() {
            cpus(&table[..length]);
        }
    }

    #[test]
    fn random_bytes_do_no_harm() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let bytes: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
            cpus(&bytes);
        }
    }
}

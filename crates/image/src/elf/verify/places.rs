//! Addresses of two processes as places in objects, so that they can be compared.

use super::Value;

/// Something that is in both processes, each time elsewhere.
#[derive(Clone, Debug)]
pub struct Twin {
    pub name: String,
    /// Where it begins in the process with the originals, and in the one with the copies.
    pub starts: [u64; 2],
    /// Its size in bytes.
    pub size: u64,
}

/// All that addresses can lead into.
#[derive(Debug)]
pub struct Places {
    twins: Vec<Twin>,
    /// For each process the twins by their beginnings.
    sorted: [Vec<usize>; 2],
}

impl Places {
    pub fn new(twins: Vec<Twin>) -> Self {
        let sorted = [0, 1].map(|side| {
            let mut order: Vec<_> = (0..twins.len()).collect();
            order.sort_unstable_by_key(|&index| twins[index].starts[side]);
            order
        });
        Self { twins, sorted }
    }

    /// The twins that an address of a process leads into: mostly one; the address right behind an object may also begin another.
    fn around(&self, side: usize, address: u64) -> impl Iterator<Item = &Twin> {
        let order = &self.sorted[side];
        let behind = order.partition_point(|&index| self.twins[index].starts[side] <= address);
        order[behind.saturating_sub(2)..behind]
            .iter()
            .rev()
            .map(|&index| &self.twins[index])
            .filter(move |twin| address - twin.starts[side] <= twin.size)
    }

    /// Whether two addresses lead to the same place in the same twin, or are the same number and lead into none.
    pub fn same(&self, original: u64, copy: u64) -> bool {
        let mut inside = self.around(0, original).peekable();
        if inside.peek().is_none() {
            return original == copy && self.around(1, copy).next().is_none();
        }
        inside.any(|twin| original - twin.starts[0] == copy.wrapping_sub(twin.starts[1]))
    }

    /// What an address of a process means.
    pub fn value(&self, side: usize, address: u64) -> Value {
        self.around(side, address)
            .next()
            .map_or(Value::Number(address), |twin| Value::Inside {
                object: twin.name.clone(),
                offset: address - twin.starts[side],
            })
    }
}

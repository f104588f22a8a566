//! How much a file may make us hold while it is read.
//!
//! A damaged or hostile store can promise anything: a blob of a kilobyte that unpacks to a terabyte, pages that
//! point at each other so that a table of a few rows never ends. Everything that reading takes into memory is
//! therefore paid for from a budget far above any real run: it buys 36 hours of samples of one millisecond each.

/// Bytes for one run, or for one list of runs: 1 GiB.
const BYTES: usize = 1 << 30;

/// What a row costs beside its content, at least: the value that is made from it.
const ROW: usize = 64;

/// What is left to spend.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// A full purse.
    pub(super) fn new() -> Self {
        Self { left: BYTES }
    }

    /// Pays for some bytes; an error text when there is not enough left.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.left.checked_sub(bytes);
        self.left =
            left.ok_or_else(|| format!("it claims to hold more than {} MiB in one run", BYTES >> 20))?;
        Ok(())
    }

    /// Pays for one row with its content.
    pub(super) fn row(&mut self, content: usize) -> Result<(), String> {
        self.spend(content.saturating_add(ROW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends() {
        let mut budget = Budget::new();
        budget.row(BYTES - 2 * ROW).unwrap();
        budget.spend(ROW).unwrap();
        assert!(budget.spend(1).unwrap_err().contains("more than 1024 MiB"));
        assert!(budget.row(usize::MAX).is_err());
    }
}

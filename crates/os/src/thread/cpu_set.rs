//! A set of CPU numbers, written as Linux writes it everywhere: `0-3,8` (cpuset(7), "List format").

use std::fmt;
use std::str::FromStr;

/// Larger numbers are refused when parsing: no system has them, and a typing error must not take gigabytes.
const MAX_CPU: usize = 65_535;

/// A set of CPUs, in ascending order.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// One bit a CPU, without empty words at the end, so that equal sets are equal vectors.
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of one CPU.
    pub fn single(cpu: usize) -> Self {
        [cpu].into_iter().collect()
    }

    /// Adds a CPU.
    ///
    /// # Panics
    /// If `cpu` is above 65,535, which is beyond what any supported system numbers.
    pub fn insert(&mut self, cpu: usize) {
        assert!(cpu <= MAX_CPU, "CPU {cpu} is beyond the largest number {MAX_CPU}");
        let word = cpu / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu % 64);
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        self.words
            .get(cpu / 64)
            .is_some_and(|word| word & (1 << (cpu % 64)) != 0)
    }

    /// How many CPUs are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            (0..64)
                .filter(move |bit| word & (1 << bit) != 0)
                .map(move |bit| index * 64 + bit)
        })
    }

    /// The CPUs that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::from_words(self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect())
    }

    /// The bits, lowest CPU first; the last word is never zero.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn from_words(mut words: Vec<u64>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { words }
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut set = Self::new();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut comma = "";
        while let Some(begin) = cpus.next() {
            let mut end = begin;
            while cpus.next_if_eq(&(end + 1)).is_some() {
                end += 1;
            }
            if begin == end {
                write!(f, "{comma}{begin}")?;
            } else {
                write!(f, "{comma}{begin}-{end}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

/// A list of CPUs that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "read the CPU list {list:?}: {part:?} is neither a CPU nor a range of CPUs; a right one is \"0-3,8\""
)]
pub struct ParseCpuSetError {
    list: String,
    part: String,
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    /// Reads `0-3,8`; an empty string (or one newline, as in sysfs) is the empty set.
    fn from_str(list: &str) -> Result<Self, Self::Err> {
        let mut set = Self::new();
        for part in list.trim().split(',').filter(|_| !list.trim().is_empty()) {
            let error = || ParseCpuSetError {
                list: list.trim().to_owned(),
                part: part.to_owned(),
            };
            let (begin, end) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse().ok().filter(|&cpu: &usize| cpu <= MAX_CPU);
            let (begin, end) = (number(begin).ok_or_else(error)?, number(end).ok_or_else(error)?);
            if begin > end {
                return Err(error());
            }
            (begin..=end).for_each(|cpu| set.insert(cpu));
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_list_format() {
        for list in ["", "0", "0-3,8", "1,3,5-7", "63-64", "1023-1025", "65535"] {
            assert_eq!(list.parse::<CpuSet>().unwrap().to_string(), list);
        }
        assert_eq!("0-1,1-2\n".parse::<CpuSet>().unwrap().to_string(), "0-2");
    }

    #[test]
    fn refuses_what_is_no_list() {
        for list in [
            ",",
            "a",
            "3-1",
            "1-",
            "-1",
            "1-2-3",
            "65536",
            "99999999999999999999",
            "0,,1",
        ] {
            let error = list.parse::<CpuSet>().unwrap_err().to_string();
            assert!(error.contains("0-3,8"), "{error}");
        }
    }

    #[test]
    fn behaves_as_a_set() {
        let set: CpuSet = [5, 130, 5, 0].into_iter().collect();
        assert_eq!(set.len(), 3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 5, 130]);
        assert_eq!(set.first(), Some(0));
        assert!(set.contains(130) && !set.contains(129) && !set.contains(100_000));
        let other: CpuSet = "5-6".parse().unwrap();
        assert_eq!(set.intersection(&other), CpuSet::single(5));
        assert!(set.intersection(&CpuSet::single(7)).is_empty());
    }
}

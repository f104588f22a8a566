//! From the name of a placement to CPU numbers. Pure: tested on machines that exist only on paper.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::Cpu;
use crate::support::Unsupported;
use crate::thread::CpuSet;

/// How the threads of a benchmark lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// Wherever the scheduler puts them.
    Unpinned,
    /// All on one CPU: they can only take turns.
    SameCpu,
    /// On the hardware threads of one core.
    SmtSibling,
    /// On different cores below one last-level cache.
    SameCache,
    /// Below different last-level caches of one socket.
    OtherCache,
    /// On different sockets.
    OtherSocket,
    /// As far apart as possible: sockets first, then caches, cores, hardware threads.
    Spread,
}

impl Placement {
    /// Every placement, nearest first after the unpinned one.
    pub const ALL: [Self; 7] = [
        Self::Unpinned,
        Self::SameCpu,
        Self::SmtSibling,
        Self::SameCache,
        Self::OtherCache,
        Self::OtherSocket,
        Self::Spread,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Unpinned => "unpinned",
            Self::SameCpu => "same-cpu",
            Self::SmtSibling => "smt",
            Self::SameCache => "same-cache",
            Self::OtherCache => "other-cache",
            Self::OtherSocket => "other-socket",
            Self::Spread => "spread",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that names no placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "read the placement {0:?}: it is none of unpinned, same-cpu, smt, same-cache, other-cache, other-socket, spread"
)]
pub struct ParsePlacementError(String);

impl FromStr for Placement {
    type Err = ParsePlacementError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|placement| placement.word() == word);
        found.ok_or_else(|| ParsePlacementError(word.to_owned()))
    }
}

pub(super) fn pick(
    cpus: &[Cpu],
    placement: Placement,
    threads: usize,
    allowed: &CpuSet,
) -> Result<Vec<usize>, Unsupported> {
    let usable: Vec<&Cpu> = cpus.iter().filter(|cpu| allowed.contains(cpu.id)).collect();
    let Some(last) = usable.last() else {
        return Err(Unsupported::new(
            "none of the CPUs that this process may use is online",
        ));
    };
    let ring = match placement {
        Placement::Unpinned => return Ok(Vec::new()),
        // The highest number, because devices tend to interrupt CPU 0.
        Placement::SameCpu => vec![last.id],
        _ if threads <= 1 => vec![last.id],
        Placement::SmtSibling => largest_group(&usable, |cpu| Some(cpu.core), |cpu| cpu.id)
            .ok_or_else(|| no("no core has two hardware threads that this process may use"))?,
        Placement::SameCache => same_cache(&usable)?,
        Placement::OtherCache => other_cache(&usable)?,
        Placement::OtherSocket => {
            let sockets = one_cpu_of_each(&usable, |cpu| Some(cpu.package));
            at_least_two(sockets, "all CPUs that this process may use are in one socket")?
        }
        Placement::Spread => at_least_two(spread(&usable), "this process may use only one CPU")?,
    };
    Ok(ring.iter().copied().cycle().take(threads).collect())
}

fn no(reason: &'static str) -> Unsupported {
    Unsupported::new(reason)
}

fn at_least_two(cpus: Vec<usize>, reason: &'static str) -> Result<Vec<usize>, Unsupported> {
    if cpus.len() >= 2 {
        Ok(cpus)
    } else {
        Err(no(reason))
    }
}

/// The group of the most CPUs that differ in `distinct`, if two do.
fn largest_group(
    cpus: &[&Cpu],
    group: impl Fn(&Cpu) -> Option<usize>,
    distinct: impl Fn(&Cpu) -> usize,
) -> Option<Vec<usize>> {
    let mut groups = BTreeMap::<usize, BTreeMap<usize, usize>>::new();
    for cpu in cpus {
        if let Some(key) = group(cpu) {
            groups
                .entry(key)
                .or_default()
                .entry(distinct(cpu))
                .or_insert(cpu.id);
        }
    }
    let members = groups.into_values().max_by_key(BTreeMap::len)?;
    (members.len() >= 2).then(|| members.into_values().collect())
}

fn same_cache(cpus: &[&Cpu]) -> Result<Vec<usize>, Unsupported> {
    if cpus.iter().all(|cpu| cpu.llc_id.is_none()) {
        return Err(no("the system does not tell which CPUs share a cache"));
    }
    largest_group(cpus, |cpu| cpu.llc_id, |cpu| cpu.core)
        .ok_or_else(|| no("no two cores that this process may use share a last-level cache"))
}

fn other_cache(cpus: &[&Cpu]) -> Result<Vec<usize>, Unsupported> {
    if cpus.iter().all(|cpu| cpu.llc_id.is_none()) {
        return Err(no("the system does not tell which CPUs share a cache"));
    }
    let known: Vec<&Cpu> = cpus.iter().copied().filter(|cpu| cpu.llc_id.is_some()).collect();
    largest_group(
        &known,
        |cpu| Some(cpu.package),
        |cpu| cpu.llc_id.unwrap_or(cpu.id),
    )
    .ok_or_else(|| no("no socket has two last-level caches that this process may use"))
}

/// One CPU of each group, in the order of the groups.
fn one_cpu_of_each(cpus: &[&Cpu], group: impl Fn(&Cpu) -> Option<usize>) -> Vec<usize> {
    let mut first = BTreeMap::new();
    for cpu in cpus {
        if let Some(key) = group(cpu) {
            first.entry(key).or_insert(cpu.id);
        }
    }
    first.into_values().collect()
}

/// All CPUs, ordered so that each one shares as little as possible with those before it.
fn spread(cpus: &[&Cpu]) -> Vec<usize> {
    // A CPU's turn within its core, its core's turn within its cache, its cache's turn within its socket: sorting by these
    // deals the CPUs out like cards, sockets first.
    let mut turns = Turns::default();
    let mut dealt: Vec<_> = cpus
        .iter()
        .map(|cpu| {
            let llc = cpu.llc_id.unwrap_or(usize::MAX);
            let thread = turns.of(&[0, cpu.package, llc, cpu.core], cpu.id);
            let core = turns.of(&[1, cpu.package, llc], cpu.core);
            let cache = turns.of(&[2, cpu.package], llc);
            (thread, core, cache, cpu.package, cpu.id)
        })
        .collect();
    dealt.sort_unstable();
    dealt.into_iter().map(|(.., id)| id).collect()
}

/// Numbers the members of each group in the order in which they appear.
#[derive(Default)]
struct Turns(BTreeMap<Vec<usize>, Vec<usize>>);

impl Turns {
    fn of(&mut self, group: &[usize], member: usize) -> usize {
        let members = self.0.entry(group.to_vec()).or_default();
        members
            .iter()
            .position(|&known| known == member)
            .unwrap_or_else(|| {
                members.push(member);
                members.len() - 1
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of two caches of two cores of two hardware threads; siblings are 8 apart, as Linux numbers them.
    fn big() -> Vec<Cpu> {
        (0..16)
            .map(|id| {
                let core = id % 8;
                Cpu {
                    id,
                    core,
                    package: core / 4,
                    smt_siblings: vec![core, core + 8],
                    llc_id: Some(core / 2 * 2),
                    numa: Some(core / 4),
                }
            })
            .collect()
    }

    fn all() -> CpuSet {
        (0..16).collect()
    }

    fn picked(placement: Placement, threads: usize, allowed: &CpuSet) -> Result<Vec<usize>, String> {
        pick(&big(), placement, threads, allowed).map_err(|reason| reason.to_string())
    }

    #[test]
    fn words_are_read_back() {
        for placement in Placement::ALL {
            assert_eq!(placement.to_string().parse(), Ok(placement));
        }
        let error = "same-core".parse::<Placement>().unwrap_err().to_string();
        assert!(
            error.contains("same-core") && error.contains("same-cpu"),
            "{error}"
        );
    }

    #[test]
    fn each_placement_has_its_relation() {
        assert_eq!(picked(Placement::Unpinned, 3, &all()), Ok(vec![]));
        assert_eq!(picked(Placement::SameCpu, 3, &all()), Ok(vec![15, 15, 15]));
        let relation = |placement| {
            let cpus = picked(placement, 2, &all()).unwrap();
            let big = big();
            let (a, b) = (big[cpus[0]].clone(), big[cpus[1]].clone());
            (
                a.id != b.id,
                a.core == b.core,
                a.llc_id == b.llc_id,
                a.package == b.package,
            )
        };
        assert_eq!(relation(Placement::SmtSibling), (true, true, true, true));
        assert_eq!(relation(Placement::SameCache), (true, false, true, true));
        assert_eq!(relation(Placement::OtherCache), (true, false, false, true));
        assert_eq!(relation(Placement::OtherSocket), (true, false, false, false));
        assert_eq!(relation(Placement::Spread), (true, false, false, false));
    }

    #[test]
    fn spread_uses_every_core_before_a_second_hardware_thread() {
        let cpus = picked(Placement::Spread, 16, &all()).unwrap();
        let cores: Vec<_> = cpus[..8].iter().map(|id| id % 8).collect();
        assert_eq!(cores.iter().copied().collect::<CpuSet>().len(), 8);
        // Sockets alternate, then caches.
        assert_eq!(cpus[..4], [0, 4, 2, 6]);
        assert_eq!(cpus.iter().copied().collect::<CpuSet>(), all());
    }

    #[test]
    fn more_threads_than_cpus_take_turns() {
        assert_eq!(
            picked(Placement::SmtSibling, 5, &"3,11".parse().unwrap()),
            Ok(vec![3, 11, 3, 11, 3])
        );
    }

    #[test]
    fn one_thread_needs_no_relation() {
        for placement in [Placement::SmtSibling, Placement::OtherSocket, Placement::Spread] {
            assert_eq!(picked(placement, 1, &CpuSet::single(6)), Ok(vec![6]));
        }
        assert_eq!(picked(Placement::Spread, 0, &all()), Ok(vec![]));
    }

    #[test]
    fn what_is_not_there_has_a_reason() {
        let one_each: CpuSet = "0,1".parse().unwrap();
        assert!(
            picked(Placement::SmtSibling, 2, &one_each)
                .unwrap_err()
                .contains("hardware threads")
        );
        assert!(
            picked(Placement::OtherCache, 2, &one_each)
                .unwrap_err()
                .contains("last-level")
        );
        assert!(
            picked(Placement::OtherSocket, 2, &one_each)
                .unwrap_err()
                .contains("socket")
        );
        assert!(
            picked(Placement::Spread, 2, &CpuSet::single(3))
                .unwrap_err()
                .contains("one CPU")
        );
        assert!(
            picked(Placement::SameCpu, 2, &CpuSet::single(99))
                .unwrap_err()
                .contains("online")
        );
        let mut blind = big();
        blind.iter_mut().for_each(|cpu| cpu.llc_id = None);
        let error = pick(&blind, Placement::SameCache, 2, &all()).unwrap_err();
        assert!(error.reason().contains("does not tell"), "{error}");
    }
}

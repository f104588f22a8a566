//! Which CPUs share what, and choosing CPUs by what they should share.
//!
//! Two threads that talk to each other cost one price on two halves of a core, another on two cores below
//! one cache, and several times more across caches or sockets. A figure without its placement cannot be compared
//! with any other, so placement is a parameter with names that mean the same on every machine.
//!
//! Contract of the platform files: `cpus()` describes the CPUs that are online, and `online()` and `allowed()`
//! are sets of the same numbers that [`crate::thread`] uses. `allowed` is what the *process* started with.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;
// Pure, so it is tested on every system.
#[cfg(any(windows, test))]
mod nt_records;
mod pick;
#[cfg(any(target_os = "linux", test))]
mod sysfs;

use std::io;

pub use pick::{ParsePlacementError, Placement};

use crate::support::Unsupported;
use crate::thread::CpuSet;

/// One CPU as the system numbers it: a hardware thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The number that pinning takes.
    pub id: usize,
    /// The physical core, as the lowest CPU number on it: unique on the machine.
    pub core: usize,
    /// The socket.
    pub package: usize,
    /// All hardware threads of the core, this one included, ascending.
    pub smt_siblings: Vec<usize>,
    /// The last-level cache, as the lowest CPU number below it; `None` if the system does not tell.
    pub llc_id: Option<usize>,
    /// The memory node; `None` if the system does not tell.
    pub numa: Option<usize>,
}

/// The CPUs that are online, ascending by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// One entry a CPU.
    pub cpus: Vec<Cpu>,
}

impl Topology {
    /// Reads the topology of this machine (Linux: /sys/devices/system/cpu; Windows:
    /// `GetLogicalProcessorInformationEx`). Whatever the system does not tell is taken to be separate cores of one socket.
    ///
    /// # Errors
    /// The system's error when not even the CPUs that are online can be listed.
    pub fn read() -> io::Result<Self> {
        Ok(Self { cpus: imp::cpus()? })
    }

    /// Chooses a CPU for each of `threads` threads among `allowed`, so that neighbours in the result stand in the
    /// relation `placement` names. [`Placement::Unpinned`] gives an empty vector: nothing is to be pinned.
    ///
    /// With more threads than CPUs that fit, the CPUs are used in turn again. A single thread needs no relation
    /// and gets one CPU.
    ///
    /// # Errors
    /// The reason why this machine, or the part of it that we may use, has no such CPUs.
    pub fn pick(
        &self,
        placement: Placement,
        threads: usize,
        allowed: &CpuSet,
    ) -> Result<Vec<usize>, Unsupported> {
        pick::pick(&self.cpus, placement, threads, allowed)
    }
}

/// The CPUs that are online.
///
/// # Errors
/// The system's error.
pub fn online() -> io::Result<CpuSet> {
    imp::online()
}

/// The CPUs that this process may use (cpuset, taskset, job), as the calling thread's affinity tells when it has not been pinned.
///
/// # Errors
/// The system's error.
pub fn allowed() -> io::Result<CpuSet> {
    imp::allowed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_makes_sense() {
        let topology = Topology::read().unwrap();
        let online = online().unwrap();
        assert_eq!(topology.cpus.iter().map(|cpu| cpu.id).collect::<CpuSet>(), online);
        assert!(!allowed().unwrap().intersection(&online).is_empty());
        for cpu in &topology.cpus {
            assert!(cpu.smt_siblings.contains(&cpu.id), "{cpu:?}");
            assert_eq!(Some(&cpu.core), cpu.smt_siblings.first(), "{cpu:?}");
        }
    }

    #[test]
    fn what_is_picked_can_be_pinned() {
        let topology = Topology::read().unwrap();
        let allowed = allowed().unwrap();
        for placement in Placement::ALL {
            let Ok(cpus) = topology.pick(placement, 2, &allowed) else {
                continue;
            };
            for cpu in cpus {
                std::thread::spawn(move || {
                    crate::thread::pin_current(&CpuSet::single(cpu)).unwrap();
                    assert_eq!(crate::thread::current_cpu(), cpu);
                })
                .join()
                .unwrap();
            }
        }
    }
}

//! What is known about the machine, so that no figure is ever read without it.
//!
//! The same loop takes three times as long on another processor, under another kernel, in a virtual machine, or with the
//! frequency held down, and a reader of a stored run was not there. So every run carries these facts. Whatever the
//! system does not tell is absent; nothing here is guessed and nothing fails.
//!
//! Contract of the platform files: `read()` fills every field that the system can answer within a few
//! milliseconds and without privileges.

mod cpu;
#[cfg_attr(target_arch = "x86_64", path = "cpuid_x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "cpuid_none.rs")]
mod cpuid;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

/// Facts about the host of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// `linux` or `windows`.
    pub os: &'static str,
    /// The processor architecture that this program was built for, such as `x86_64`.
    pub arch: &'static str,
    /// Release and build of the kernel (uname(2); Windows: `10.0.19045`).
    pub kernel: Option<String>,
    /// The distribution or edition, as it calls itself (os-release(5); the registry).
    pub distribution: Option<String>,
    /// The C library in this process, with its version.
    pub libc: Option<String>,
    /// The processor's own name for itself.
    pub cpu_model: Option<String>,
    /// CPUs that are online.
    pub cpus: Option<usize>,
    /// Memory of the machine or of the limit that holds for us, in bytes.
    pub memory_bytes: Option<u64>,
    /// The hypervisor, if the processor says that there is one: `KVM`, `Hyper-V`, `VMware`, …
    pub virtualised: Option<String>,
    /// The version of Wine, if this is Windows only by courtesy of Wine: its figures are not Windows' figures.
    pub wine: Option<String>,
    /// What the kernel keeps time by (Linux).
    pub clocksource: Option<String>,
    /// How CPU frequencies are chosen (Linux: the cpufreq governor of CPU 0, as for all in practice).
    pub governor: Option<String>,
    /// Whether frequencies above the nominal one are allowed (Linux, where cpufreq tells).
    pub boost: Option<bool>,
    /// Whether cores run more than one thread.
    pub smt: Option<bool>,
    /// When memory is given in huge pages: `always`, `madvise`, `never` (Linux).
    pub thp: Option<String>,
    /// Ticks of the kernel's clock a second: the grain of time slices and of coarse timers.
    pub hz: Option<u32>,
    /// Address space randomisation: 0 off, 1 without the heap, 2 full (Linux, proc_sys_kernel(5) `randomize_va_space`).
    pub aslr: Option<u32>,
    /// Whether CPU time is shared out between sessions first (Linux, sched(7) "The autogroup feature").
    pub autogroup: Option<bool>,
    /// Who may use performance counters (Linux, perf_event_open(2) `perf_event_paranoid`); 2 or less lets users watch themselves.
    pub perf_event_paranoid: Option<i32>,
    /// The kind of container that this process is in: `docker`, `podman`, `kubernetes`, `lxc`, …
    pub container: Option<String>,
}

impl Host {
    /// Reads the facts.
    pub fn read() -> Self {
        let mut host = imp::read();
        host.os = std::env::consts::OS;
        host.arch = std::env::consts::ARCH;
        host.cpu_model = cpu::model().or(host.cpu_model);
        host.virtualised = cpu::hypervisor().or(host.virtualised);
        host.cpus = crate::topology::online().ok().map(|cpus| cpus.len());
        host.memory_bytes = crate::memory::total_bytes();
        host
    }

    /// All facts that are known, as names and texts in the order in which they are to be shown.
    pub fn facts(&self) -> Vec<(String, String)> {
        fn text(value: Option<impl ToString>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        let facts = [
            ("os", Some(self.os.to_owned())),
            ("arch", Some(self.arch.to_owned())),
            ("kernel", self.kernel.clone()),
            ("distribution", self.distribution.clone()),
            ("libc", self.libc.clone()),
            ("cpu_model", self.cpu_model.clone()),
            ("cpus", text(self.cpus)),
            ("memory_bytes", text(self.memory_bytes)),
            ("virtualised", self.virtualised.clone()),
            ("wine", self.wine.clone()),
            ("clocksource", self.clocksource.clone()),
            ("governor", self.governor.clone()),
            ("boost", text(self.boost)),
            ("smt", text(self.smt)),
            ("thp", self.thp.clone()),
            ("hz", text(self.hz)),
            ("aslr", text(self.aslr)),
            ("autogroup", text(self.autogroup)),
            ("perf_event_paranoid", text(self.perf_event_paranoid)),
            ("container", self.container.clone()),
        ];
        facts
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_essentials_are_known() {
        let host = Host::read();
        assert_eq!(host.os, std::env::consts::OS);
        assert!(
            host.kernel.as_deref().is_some_and(|kernel| kernel.contains('.')),
            "{host:?}"
        );
        assert!(host.cpus.is_some_and(|cpus| cpus >= 1), "{host:?}");
        assert!(
            host.memory_bytes.is_some_and(|bytes| bytes > 64 << 20),
            "{host:?}"
        );
        assert!(host.libc.is_some(), "{host:?}");
        if cfg!(target_arch = "x86_64") {
            assert!(
                host.cpu_model.as_deref().is_some_and(|model| !model.is_empty()),
                "{host:?}"
            );
        }
        if cfg!(target_os = "linux") {
            assert_eq!(host.wine, None);
            assert!(host.hz.is_some_and(|hz| (24..=10_000).contains(&hz)), "{host:?}");
        }
    }

    #[test]
    fn facts_are_those_that_are_known() {
        let host = Host {
            os: "linux",
            arch: "x86_64",
            cpus: Some(2),
            smt: Some(false),
            wine: Some("8.0".to_owned()),
            ..Host::default()
        };
        let facts = host.facts();
        let facts: Vec<_> = facts
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            facts,
            [
                ("os", "linux"),
                ("arch", "x86_64"),
                ("cpus", "2"),
                ("wine", "8.0"),
                ("smt", "false")
            ]
        );
    }
}

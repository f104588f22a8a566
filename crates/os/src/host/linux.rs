//! Linux: uname(2), os-release(5), /proc and /sys.

#![expect(
    unsafe_code,
    reason = "uname and clock_getres have no safe wrapper in the standard library"
)]

use std::ffi::CStr;
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use super::Host;

pub(super) fn read() -> Host {
    Host {
        kernel: kernel(),
        distribution: distribution(),
        libc: libc_version(),
        // For processors without CPUID; this file has a line of that name on some of them.
        cpu_model: text("/proc/cpuinfo").and_then(|text| field(&text, "model name")),
        virtualised: text("/sys/hypervisor/type"),
        clocksource: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        boost: boost(),
        smt: number("/sys/devices/system/cpu/smt/active").map(|active| active == 1),
        thp: text("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
        hz: hz(),
        aslr: number("/proc/sys/kernel/randomize_va_space").and_then(|value| u32::try_from(value).ok()),
        autogroup: number("/proc/sys/kernel/sched_autogroup_enabled").map(|enabled| enabled == 1),
        perf_event_paranoid: number("/proc/sys/kernel/perf_event_paranoid"),
        container: container(),
        ..Host::default()
    }
}

fn text(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn number(path: &str) -> Option<i32> {
    text(path)?.parse().ok()
}

/// The value of `name : value` or `name=value`, without quotation marks.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        let value = value.trim().trim_matches(['"', '\'']);
        (key.trim() == name && !value.is_empty()).then(|| value.to_owned())
    })
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Release and version: the version tells the preemption model (`PREEMPT_DYNAMIC`), which matters for latencies.
fn kernel() -> Option<String> {
    let mut names = MaybeUninit::<libc::utsname>::uninit();
    // SAFETY: `names` is a valid place for one utsname.
    if unsafe { libc::uname(names.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has written the whole structure.
    let names = unsafe { names.assume_init() };
    Some(format!("{} {}", c_text(&names.release), c_text(&names.version)))
}

fn c_text(characters: &[libc::c_char]) -> String {
    let bytes: Vec<u8> = characters
        .iter()
        .map(|&character| character.cast_unsigned())
        .collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn distribution() -> Option<String> {
    let text = text("/etc/os-release").or_else(|| text("/usr/lib/os-release"))?;
    field(&text, "PRETTY_NAME").or_else(|| field(&text, "NAME"))
}

#[cfg(target_env = "gnu")]
fn libc_version() -> Option<String> {
    // SAFETY: no preconditions; returns a constant text that ends with zero.
    let version = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: as above.
    let version = unsafe { CStr::from_ptr(version) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

#[cfg(not(target_env = "gnu"))]
fn libc_version() -> Option<String> {
    // musl does not tell its version to programs.
    Some(
        if cfg!(target_env = "musl") {
            "musl"
        } else {
            "not glibc"
        }
        .to_owned(),
    )
}

/// Two drivers, two files with opposite meanings.
fn boost() -> Option<bool> {
    number("/sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|off| off == 0)
        .or_else(|| number("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == 1))
}

/// The coarse clock advances once a tick, and says so (clock_getres(2)).
fn hz() -> Option<u32> {
    let mut grain = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `grain` is a valid place for one timespec.
    let status = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut grain) };
    if status != 0 || grain.tv_sec != 0 || grain.tv_nsec <= 0 {
        return None;
    }
    u32::try_from((1_000_000_000 + grain.tv_nsec / 2) / grain.tv_nsec).ok()
}

/// The marks that container managers leave. None of them is a promise, so "none found" is "not known".
fn container() -> Option<String> {
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".to_owned());
    }
    let marks = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let by_environment = std::env::var("container").ok().filter(|name| !name.is_empty());
    let by_mark = || {
        marks
            .iter()
            .find(|(path, _)| Path::new(path).exists())
            .map(|(_, name)| (*name).to_owned())
    };
    let by_group = || {
        let groups = text("/proc/1/cgroup")?;
        let names = ["kubepods", "docker", "lxc", "libpod"];
        names
            .iter()
            .find(|name| groups.contains(**name))
            .map(|name| (*name).to_owned())
    };
    text("/run/systemd/container")
        .or(by_environment)
        .or_else(by_mark)
        .or_else(by_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_understood() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nEMPTY=\n";
        assert_eq!(
            field(text, "PRETTY_NAME").as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
        assert_eq!(field(text, "EMPTY"), None);
        assert_eq!(
            field("processor\t: 0\nmodel name\t: Some CPU\n", "model name").as_deref(),
            Some("Some CPU")
        );
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }

    #[test]
    fn hz_is_one_that_kernels_are_built_with() {
        assert!(matches!(hz(), Some(100 | 250 | 300 | 1000)), "{:?}", hz());
    }
}

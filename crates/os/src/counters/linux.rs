//! Linux: getrusage(2), CPU clocks, and /proc.

#![expect(
    unsafe_code,
    reason = "getrusage and clock_gettime have no safe wrapper in the standard library"
)]

use std::fs;
use std::io;
use std::mem::MaybeUninit;

pub(super) use super::throttle::throttling;
use super::{Gap, ProcessCounters, SystemCounters, ThreadCounters, proc_files};

const NO_SCHEDSTAT: &str = "the kernel keeps no scheduling statistics (built without CONFIG_SCHED_INFO)";
const NO_CYCLES: &str = "Linux counts CPU time exactly in nanoseconds, and cycles only through perf events";

pub(super) fn process() -> io::Result<ProcessCounters> {
    let children = usage(libc::RUSAGE_CHILDREN)?;
    let usage = usage(libc::RUSAGE_SELF)?;
    let mut buffer = [0_u8; 4096];
    let status = proc_files::read(c"/proc/self/status", &mut buffer)?;
    let bytes = |key| {
        proc_files::numbers(status, key)
            .and_then(|mut kib| kib.next())
            .map(|kib| kib * 1024)
    };
    let voluntary = usage.ru_nvcsw as u64;
    let involuntary = usage.ru_nivcsw as u64;
    Ok(ProcessCounters {
        context_switches: Some(voluntary + involuntary),
        voluntary: Some(voluntary),
        involuntary: Some(involuntary),
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        cpu_ns: cpu_clock(libc::CLOCK_PROCESS_CPUTIME_ID)?,
        children_cpu_ns: Some(nanoseconds(children.ru_utime) + nanoseconds(children.ru_stime)),
        cycles: None,
        minor_faults: Some(usage.ru_minflt as u64),
        major_faults: Some(usage.ru_majflt as u64),
        peak_rss_bytes: bytes(b"VmHWM:").unwrap_or(0),
        current_rss_bytes: bytes(b"VmRSS:").unwrap_or(0),
        runqueue_wait_ns: wait_of_all_threads(),
    })
}

pub(super) fn process_gaps(counters: &ProcessCounters) -> Vec<Gap> {
    let mut gaps = vec![Gap::new("cycles", NO_CYCLES)];
    if counters.runqueue_wait_ns.is_none() {
        gaps.push(Gap::new("runqueue_wait_ns", NO_SCHEDSTAT));
    }
    gaps
}

pub(super) fn thread() -> io::Result<ThreadCounters> {
    let usage = usage(libc::RUSAGE_THREAD)?;
    let mut buffer = [0_u8; 128];
    let schedstat = proc_files::read(c"/proc/thread-self/schedstat", &mut buffer).ok();
    let (wait, slices) = schedstat.map_or((None, None), |text| {
        let mut numbers = proc_files::words_as_numbers(text).skip(1);
        (numbers.next(), numbers.next())
    });
    let voluntary = usage.ru_nvcsw as u64;
    let involuntary = usage.ru_nivcsw as u64;
    Ok(ThreadCounters {
        context_switches: Some(voluntary + involuntary),
        voluntary: Some(voluntary),
        involuntary: Some(involuntary),
        cpu_ns: cpu_clock(libc::CLOCK_THREAD_CPUTIME_ID)?,
        cycles: None,
        minor_faults: Some(usage.ru_minflt as u64),
        major_faults: Some(usage.ru_majflt as u64),
        runqueue_wait_ns: wait,
        slices,
    })
}

pub(super) fn thread_gaps(counters: &ThreadCounters) -> Vec<Gap> {
    match counters.runqueue_wait_ns {
        Some(_) => Vec::new(),
        None => vec![
            Gap::new("runqueue_wait_ns", NO_SCHEDSTAT),
            Gap::new("slices", NO_SCHEDSTAT),
        ],
    }
}

pub(super) fn system() -> io::Result<SystemCounters> {
    // The line `intr` lists every interrupt source, so the file grows with the machine and has no useful bound.
    let text = fs::read("/proc/stat")?;
    parse_stat(&text, ticks_per_second())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat has no line of CPU times"))
}

fn parse_stat(text: &[u8], ticks_per_second: u64) -> Option<SystemCounters> {
    let ns = |ticks: u64| ticks.saturating_mul(1_000_000_000 / ticks_per_second);
    let mut cpu = [0_u64; 8];
    let mut columns = 0;
    for (column, ticks) in cpu.iter_mut().zip(proc_files::numbers(text, b"cpu ")?) {
        *column = ticks;
        columns += 1;
    }
    if columns < 4 {
        return None;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = cpu;
    let first = |key| proc_files::numbers(text, key).and_then(|mut numbers| numbers.next());
    Some(SystemCounters {
        context_switches: first(b"ctxt "),
        interrupts: first(b"intr "),
        // Guest time is contained in user and nice (proc_stat(5)), so it must not be added again.
        cpu_busy_ns: Some(ns(user + nice + system + irq + softirq)),
        cpu_idle_ns: Some(ns(idle + iowait)),
        cpu_steal_ns: (columns >= 8).then(|| ns(steal)),
        forks: first(b"processes "),
    })
}

pub(super) fn system_gaps(counters: &SystemCounters) -> Vec<Gap> {
    let fields = [
        ("context_switches", counters.context_switches),
        ("interrupts", counters.interrupts),
        ("cpu_busy_ns", counters.cpu_busy_ns),
        ("cpu_idle_ns", counters.cpu_idle_ns),
        ("cpu_steal_ns", counters.cpu_steal_ns),
        ("forks", counters.forks),
    ];
    let missing = fields.into_iter().filter(|(_, value)| value.is_none());
    missing
        .map(|(field, _)| Gap::new(field, "this kernel's /proc/stat does not have it"))
        .collect()
}

pub(super) fn reset_peak_rss() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

fn usage(who: libc::c_int) -> io::Result<libc::rusage> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: `usage` is a valid place for one rusage.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it has written the whole structure.
    Ok(unsafe { usage.assume_init() })
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

fn cpu_clock(clock: libc::clockid_t) -> io::Result<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one timespec.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The second number of schedstat is the time spent ready but waiting
/// (Documentation/scheduler/sched-stats.rst).
fn wait_of_all_threads() -> Option<u64> {
    let mut sum = None;
    proc_files::for_each_in(c"/proc/self/task", c"schedstat", |text| {
        if let Some(wait) = proc_files::words_as_numbers(text).nth(1) {
            sum = Some(sum.unwrap_or(0) + wait);
        }
    })
    .ok()?;
    sum
}

fn ticks_per_second() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as u64 } else { 100 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_understood() {
        let text = b"cpu  100 10 20 1000 5 3 2 7 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 77 1 2 3\nctxt 99\nprocesses 12\n";
        let counters = parse_stat(text, 100).unwrap();
        assert_eq!(counters.cpu_busy_ns, Some(135 * 10_000_000));
        assert_eq!(counters.cpu_idle_ns, Some(1005 * 10_000_000));
        assert_eq!(counters.cpu_steal_ns, Some(7 * 10_000_000));
        assert_eq!(counters.interrupts, Some(77));
        assert_eq!(counters.context_switches, Some(99));
        assert_eq!(counters.forks, Some(12));
        assert!(system_gaps(&counters).is_empty());
    }

    #[test]
    fn a_stat_without_columns_has_gaps_not_zeros() {
        let counters = parse_stat(b"cpu  1 2 3 4\n", 100).unwrap();
        assert_eq!(counters.cpu_steal_ns, None);
        let missing: Vec<_> = system_gaps(&counters).iter().map(|gap| gap.field).collect();
        assert_eq!(
            missing,
            ["context_switches", "interrupts", "cpu_steal_ns", "forks"]
        );
        assert_eq!(parse_stat(b"cpu  1 2\n", 100), None);
        assert_eq!(parse_stat(b"", 100), None);
    }
}

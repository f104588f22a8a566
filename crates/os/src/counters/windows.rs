//! Windows: process times and memory by documented calls; context switches and faults from the list of all processes.

#![expect(unsafe_code, reason = "calls the Win32 API and NtQuerySystemInformation")]

use std::io;
use std::mem;

use windows_sys::Win32::Foundation::{FILETIME, HMODULE};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetSystemTimes, GetThreadTimes,
};
use windows_sys::core::{BOOL, w};

use super::nt_records::{self, Own};
use super::{Gap, ProcessCounters, SystemCounters, ThreadCounters, Throttling, Unsupported};
use crate::thread;

const NOT_SPLIT: &str = "Windows does not tell waiting from being pushed aside";
const NO_WAIT: &str = "Windows keeps no sum of the time that ready threads wait; a trace (ETW) is needed";
const NO_SWITCHES: &str = "this system reports no context switches of its processes";
const NO_FAULTS: &str = "this system reports no page faults of its processes";
const NO_CHILDREN: &str =
    "Windows keeps no sum over the processes that a process made; a job does, for all of them";
const NO_CYCLES: &str = "this system does not count processor cycles of processes and threads";

pub(super) fn process() -> io::Result<ProcessCounters> {
    // SAFETY: no preconditions; the pseudo-handle needs no closing.
    let this = unsafe { GetCurrentProcess() };
    let (system_ns, user_ns) = times(|created, exited, kernel, user| {
        // SAFETY: `this` is the own process and the four places are valid.
        unsafe { GetProcessTimes(this, created, exited, kernel, user) }
    })?;
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut memory = PROCESS_MEMORY_COUNTERS {
        cb: size,
        ..Default::default()
    };
    // SAFETY: `memory` is a valid place of the size given.
    if unsafe { K32GetProcessMemoryInfo(this, &raw mut memory, size) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let own = own_record(None);
    // A living process has been switched to and has faulted; a zero is the sign of a system that does not count.
    let some = |count: u64| Some(count).filter(|&count| count > 0);
    let faults = some(memory.PageFaultCount.into());
    let hard = own.as_ref().map_or(0, |own| own.hard_faults);
    Ok(ProcessCounters {
        context_switches: own.as_ref().and_then(|own| some(own.context_switches)),
        voluntary: None,
        involuntary: None,
        user_ns,
        system_ns,
        cpu_ns: user_ns + system_ns,
        children_cpu_ns: None,
        cycles: cycles(c"QueryProcessCycleTime", this),
        minor_faults: faults.map(|all| all.saturating_sub(hard)),
        major_faults: faults.map(|_| hard),
        peak_rss_bytes: memory.PeakWorkingSetSize as u64,
        current_rss_bytes: memory.WorkingSetSize as u64,
        runqueue_wait_ns: None,
    })
}

pub(super) fn process_gaps(counters: &ProcessCounters) -> Vec<Gap> {
    gaps([
        ("context_switches", counters.context_switches, NO_SWITCHES),
        ("voluntary", counters.voluntary, NOT_SPLIT),
        ("involuntary", counters.involuntary, NOT_SPLIT),
        ("children_cpu_ns", counters.children_cpu_ns, NO_CHILDREN),
        ("cycles", counters.cycles, NO_CYCLES),
        ("minor_faults", counters.minor_faults, NO_FAULTS),
        ("major_faults", counters.major_faults, NO_FAULTS),
        ("runqueue_wait_ns", counters.runqueue_wait_ns, NO_WAIT),
    ])
}

pub(super) fn thread() -> io::Result<ThreadCounters> {
    // SAFETY: no preconditions; the pseudo-handle needs no closing.
    let this = unsafe { GetCurrentThread() };
    let (system_ns, user_ns) = times(|created, exited, kernel, user| {
        // SAFETY: `this` is the own thread and the four places are valid.
        unsafe { GetThreadTimes(this, created, exited, kernel, user) }
    })?;
    let own = own_record(Some(thread::current_id()));
    Ok(ThreadCounters {
        context_switches: own.map(|own| own.context_switches).filter(|&count| count > 0),
        cpu_ns: user_ns + system_ns,
        cycles: cycles(c"QueryThreadCycleTime", this),
        ..ThreadCounters::default()
    })
}

pub(super) fn thread_gaps(counters: &ThreadCounters) -> Vec<Gap> {
    const NOT_BY_THREAD: &str = "Windows counts page faults by process, not by thread";
    gaps([
        ("context_switches", counters.context_switches, NO_SWITCHES),
        ("voluntary", counters.voluntary, NOT_SPLIT),
        ("involuntary", counters.involuntary, NOT_SPLIT),
        ("cycles", counters.cycles, NO_CYCLES),
        ("minor_faults", counters.minor_faults, NOT_BY_THREAD),
        ("major_faults", counters.major_faults, NOT_BY_THREAD),
        ("runqueue_wait_ns", counters.runqueue_wait_ns, NO_WAIT),
        ("slices", counters.slices, NO_WAIT),
    ])
}

pub(super) fn system() -> io::Result<SystemCounters> {
    let mut spans = [FILETIME::default(); 3];
    let [idle, kernel, user] = &mut spans;
    // SAFETY: the three places are valid.
    if unsafe { GetSystemTimes(&raw mut *idle, &raw mut *kernel, &raw mut *user) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let [idle, kernel, user] = spans.map(nanoseconds);
    let nonzero = |count: Option<u64>| count.filter(|&count| count > 0);
    Ok(SystemCounters {
        context_switches: nonzero(nt_records::system_context_switches().ok()),
        interrupts: nonzero(nt_records::system_interrupts().ok()),
        // The idle loop is kernel time for Windows.
        cpu_busy_ns: Some(kernel.saturating_sub(idle) + user),
        cpu_idle_ns: Some(idle),
        cpu_steal_ns: None,
        forks: None,
    })
}

pub(super) fn system_gaps(counters: &SystemCounters) -> Vec<Gap> {
    gaps([
        (
            "context_switches",
            counters.context_switches,
            "this system reports no context switches",
        ),
        (
            "interrupts",
            counters.interrupts,
            "this system reports no interrupts",
        ),
        (
            "cpu_busy_ns",
            counters.cpu_busy_ns,
            "this system reports no CPU times",
        ),
        (
            "cpu_idle_ns",
            counters.cpu_idle_ns,
            "this system reports no CPU times",
        ),
        (
            "cpu_steal_ns",
            counters.cpu_steal_ns,
            "Windows does not tell what its hypervisor took",
        ),
        (
            "forks",
            counters.forks,
            "Windows does not count the processes it has started",
        ),
    ])
}

pub(super) fn reset_peak_rss() -> bool {
    false
}

pub(super) fn throttling() -> Result<Throttling, Unsupported> {
    Err(Unsupported::new(
        "Windows does not tell how often a job's CPU rate limit held it back",
    ))
}

fn gaps<const N: usize>(fields: [(&'static str, Option<u64>, &'static str); N]) -> Vec<Gap> {
    let missing = fields.into_iter().filter(|(_, value, _)| value.is_none());
    missing
        .map(|(field, _, reason)| Gap::new(field, reason))
        .collect()
}

/// Kernel and user time in nanoseconds, by a call of the shape of `GetProcessTimes`.
fn times(
    call: impl Fn(*mut FILETIME, *mut FILETIME, *mut FILETIME, *mut FILETIME) -> BOOL,
) -> io::Result<(u64, u64)> {
    let mut spans = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut spans;
    if call(created, exited, kernel, user) == 0 {
        return Err(io::Error::last_os_error());
    }
    let [_, _, kernel, user] = spans.map(nanoseconds);
    Ok((kernel, user))
}

/// A FILETIME counts 100 ns in two halves of 32 bits, both of which matter.
fn nanoseconds(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * 100
}

fn own_record(thread: Option<u32>) -> Option<Own> {
    nt_records::own(std::process::id(), thread).ok()
}

/// Calls `QueryProcessCycleTime` or `QueryThreadCycleTime`, which not every system has: looked up, not linked.
fn cycles(name: &std::ffi::CStr, handle: windows_sys::Win32::Foundation::HANDLE) -> Option<u64> {
    type Query = unsafe extern "system" fn(windows_sys::Win32::Foundation::HANDLE, *mut u64) -> BOOL;
    // SAFETY: the name is a wide string that ends with zero.
    let library: HMODULE = unsafe { GetModuleHandleW(w!("kernel32.dll")) };
    // SAFETY: the name ends with zero; a null module is answered with "not found" for these names.
    let found = unsafe { GetProcAddress(library, name.as_ptr().cast()) }?;
    // SAFETY: both functions are declared so in realtimeapiset.h.
    let query = unsafe { mem::transmute::<unsafe extern "system" fn() -> isize, Query>(found) };
    let mut cycles = 0;
    // SAFETY: the handle is a pseudo-handle of the right kind, and `cycles` is a valid place.
    let done = unsafe { query(handle, &raw mut cycles) };
    Some(cycles).filter(|&cycles| done != 0 && cycles > 0)
}

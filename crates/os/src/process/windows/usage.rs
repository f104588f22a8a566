//! What a command cost, from the accounts of its job and of its first process.
//!
//! The job knows all members but counts CPU time by clock ticks; the process knows itself, and its cycles exactly.
//! Where one of the two does not count (it then says zero), the other one's figure stands. Wine answers the question for
//! another process's times with the asker's own; that is found out once, and such times are not used.
#![expect(unsafe_code, reason = "the accounts of a process are reached by raw calls")]

use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessIoCounters, GetProcessTimes, IO_COUNTERS,
};
use windows_sys::Win32::System::WindowsProgramming::{QueryProcessCycleTime, QueryThreadCycleTime};

use super::super::Usage;
use super::job::Job;

/// Nanoseconds in the unit of FILETIME and of a job's times.
const TICK_NS: u64 = 100;

/// Which sources count here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The job counts CPU time and members.
    pub job_accounts: bool,
    /// The job knows its peak of committed memory.
    pub job_peak: bool,
    /// There is a peak at all, if only the first process's.
    pub peak: bool,
    /// The process counts cycles.
    pub cycles: bool,
    /// There is a CPU time at all.
    pub cpu: bool,
}

/// The accounts of a command that is gone, and where they come from.
pub fn read(job: &Job, process: BorrowedHandle<'_>, wall: Duration) -> (Usage, Sources) {
    let times = tells_times_of_others(process).then(|| process_times(process));
    let accounts = job.accounts().unwrap_or_default();
    let (basic, job_io) = (accounts.BasicInfo, accounts.IoInfo);
    // Times may be below a tick; no process runs without a page fault.
    let job_accounts = basic.TotalPageFaultCount > 0;
    let job_times = job_accounts.then(|| (ticks(basic.TotalUserTime), ticks(basic.TotalKernelTime)));
    let larger = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).max();
    let user_ns = larger(times.map(|times| times.0), job_times.map(|times| times.0));
    let system_ns = larger(times.map(|times| times.1), job_times.map(|times| times.1));
    let cycles_ns = cycles(process);
    let memory = memory(process);
    let job_peak = job.peak_memory();
    let io = io_counters(process);
    let cpu_ns = match cycles_ns {
        // Cycles are those of the first process only; ticks are off by up to one of them a thread.
        Some(exact) if basic.TotalProcesses <= 1 => Some(exact),
        _ => user_ns.zip(system_ns).map(|(user, system)| user + system),
    };
    let usage = Usage {
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        user_ns,
        system_ns,
        cpu_ns,
        peak_rss_bytes: [job_peak, memory.PeakWorkingSetSize as u64]
            .into_iter()
            .find(|&peak| peak > 0),
        minor_faults: Some(u64::from(basic.TotalPageFaultCount.max(memory.PageFaultCount))),
        read_bytes: Some(job_io.ReadTransferCount.max(io.ReadTransferCount)),
        written_bytes: Some(job_io.WriteTransferCount.max(io.WriteTransferCount)),
        ..Usage::default()
    };
    let sources = Sources {
        job_accounts,
        job_peak: job_peak > 0,
        peak: usage.peak_rss_bytes.is_some(),
        cycles: cycles_ns.is_some(),
        cpu: cpu_ns.is_some(),
    };
    (usage, sources)
}

fn ticks(time: i64) -> u64 {
    time.max(0).cast_unsigned() * TICK_NS
}

/// User and system time in nanoseconds.
fn process_times(process: BorrowedHandle<'_>) -> (u64, u64) {
    let [mut created, mut exited, mut system, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open and all four are places for answers, zero where it fails.
    unsafe {
        GetProcessTimes(
            process.as_raw_handle(),
            &raw mut created,
            &raw mut exited,
            &raw mut system,
            &raw mut user,
        )
    };
    let nanoseconds =
        |time: FILETIME| (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * TICK_NS;
    (nanoseconds(user), nanoseconds(system))
}

/// Whether the system tells the times of other processes: those of one that is gone, as `process` is, stand still
/// while we work. Found out once, in about two clock ticks.
fn tells_times_of_others(gone: BorrowedHandle<'_>) -> bool {
    static TELLS: OnceLock<bool> = OnceLock::new();
    /// A clock tick takes up to 15.6 ms, and on a busy machine other threads come between.
    const LONGEST: Duration = Duration::from_millis(500);
    *TELLS.get_or_init(|| {
        // SAFETY: the pseudo-handle is always valid and never closed.
        let ourselves = unsafe { BorrowedHandle::borrow_raw(GetCurrentProcess()) };
        let (before, own, begin) = (process_times(gone), process_times(ourselves), Instant::now());
        while process_times(ourselves) == own && begin.elapsed() < LONGEST {
            std::hint::spin_loop();
        }
        process_times(gone) == before
    })
}

fn memory(process: BorrowedHandle<'_>) -> PROCESS_MEMORY_COUNTERS {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the handle is open and `counters` is a place of that size, zero where it fails.
    unsafe { K32GetProcessMemoryInfo(process.as_raw_handle(), &raw mut counters, size) };
    counters
}

fn io_counters(process: BorrowedHandle<'_>) -> IO_COUNTERS {
    let mut counters = IO_COUNTERS::default();
    // SAFETY: the handle is open and `counters` is a place for the answer, zero where it fails.
    unsafe { GetProcessIoCounters(process.as_raw_handle(), &raw mut counters) };
    counters
}

/// CPU time of all threads that the process ever had, in nanoseconds; None where cycles are not counted.
fn cycles(process: BorrowedHandle<'_>) -> Option<u64> {
    let mut cycles = 0;
    // SAFETY: the handle is open and `cycles` is a place for the answer.
    let done = unsafe { QueryProcessCycleTime(process.as_raw_handle(), &raw mut cycles) };
    let rate = cycles_per_ns()?;
    (done != 0 && cycles > 0).then(|| (cycles as f64 / rate) as u64)
}

/// The rate of the cycle counter, measured once on a loop of our own.
fn cycles_per_ns() -> Option<f64> {
    static RATE: OnceLock<Option<f64>> = OnceLock::new();
    *RATE.get_or_init(|| {
        let thread_cycles = || {
            let mut cycles = 0;
            // SAFETY: the pseudo-handle is always valid.
            let thread = unsafe { GetCurrentThread() };
            // SAFETY: as just said; `cycles` is a place for the answer.
            let done = unsafe { QueryThreadCycleTime(thread, &raw mut cycles) };
            (done != 0 && cycles > 0).then_some(cycles)
        };
        // The best of several: time in which another thread ran would make the rate look slow.
        let rates = (0..5).filter_map(|_| {
            let (begin, first) = (Instant::now(), thread_cycles()?);
            while begin.elapsed() < Duration::from_millis(2) {
                std::hint::spin_loop();
            }
            let (last, took) = (thread_cycles()?, begin.elapsed());
            Some((last - first) as f64 / took.as_nanos() as f64)
        });
        rates.max_by(f64::total_cmp).filter(|rate| *rate > 0.0)
    })
}

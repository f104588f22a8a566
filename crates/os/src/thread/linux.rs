//! Linux: sched_setaffinity(2), getcpu(2), setpriority(2) and /proc/self/autogroup.

#![expect(
    unsafe_code,
    reason = "scheduling calls have no safe wrapper in the standard library"
)]

use std::fs;
use std::io;

use super::CpuSet;
use crate::support::Unsupported;

pub(super) fn pin_current(cpus: &CpuSet) -> io::Result<()> {
    let words = cpus.words();
    // SAFETY: pid 0 is the calling thread; the pointer and the length in bytes describe `words`.
    let status = unsafe { libc::sched_setaffinity(0, size_of_val(words), words.as_ptr().cast()) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(super) fn current_affinity() -> io::Result<CpuSet> {
    // The kernel refuses a buffer smaller than its own mask, whose size it does not tell.
    const MAX_WORDS: usize = 65_536 / 64;
    let mut words = vec![0_u64; 16];
    loop {
        // SAFETY: pid 0 is the calling thread; the pointer and the length in bytes describe `words`.
        let status =
            unsafe { libc::sched_getaffinity(0, size_of_val(words.as_slice()), words.as_mut_ptr().cast()) };
        if status == 0 {
            return Ok(CpuSet::from_words(words));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || words.len() >= MAX_WORDS {
            return Err(error);
        }
        words.resize(words.len() * 2, 0);
    }
}

#[inline]
pub(super) fn current_cpu() -> usize {
    // SAFETY: sched_getcpu has no preconditions; it fails only on kernels older than 2.6.19.
    unsafe { libc::sched_getcpu() }.max(0) as usize
}

pub(super) fn current_id() -> u32 {
    // SAFETY: gettid has no preconditions and cannot fail.
    unsafe { libc::gettid() as u32 }
}

pub(super) fn set_nice(nice: i32) -> io::Result<i32> {
    // SAFETY: plain integers; `who` 0 is the calling thread on Linux.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } != 0 {
        // Linux says EACCES for "may not be favoured so"; that is PermissionDenied as well as EPERM.
        return Err(io::Error::last_os_error());
    }
    // SAFETY: plain integers. -1 is a legal answer, and the call cannot fail for the calling thread.
    Ok(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) })
}

pub(super) fn set_realtime() -> io::Result<()> {
    // SAFETY: zero is a valid value of every field.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: asks for a number.
    parameters.sched_priority = unsafe { libc::sched_get_priority_min(libc::SCHED_FIFO) };
    // SAFETY: `parameters` is alive; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

pub(super) fn leave_autogroup() -> Result<i32, Unsupported> {
    const FILE: &str = "/proc/self/autogroup";
    let no = |reason: String| Unsupported::new(reason);
    let switch = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    if switch.is_ok_and(|value| value.trim() == "0") {
        return Err(Unsupported::new(
            "autogroup scheduling is switched off, so there is no group to leave",
        ));
    }
    // SAFETY: getsid(0) asks about the calling process and cannot fail.
    let session = unsafe { libc::getsid(0) };
    if session != std::process::id() as libc::pid_t {
        return Err(Unsupported::new(
            "this process shares its session with others; it must call setsid first",
        ));
    }
    // The weight may be changed once in 100 ms by ordinary users, and only downwards; so ask for the best first.
    fs::write(FILE, "-20").map_err(|error| {
        no(format!(
            "the kernel does not let us change our group ({FILE}: {error})"
        ))
    })?;
    let text = fs::read_to_string(FILE).map_err(|error| no(format!("{FILE} cannot be read: {error}")))?;
    parse_autogroup(&text)
        .ok_or_else(|| no(format!("{FILE} says {:?}, which has no nice value", text.trim())))
}

/// Reads `/autogroup-25 nice -20`.
fn parse_autogroup(text: &str) -> Option<i32> {
    text.trim().rsplit_once(" nice ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autogroup_file_is_understood() {
        assert_eq!(parse_autogroup("/autogroup-25 nice -20\n"), Some(-20));
        assert_eq!(parse_autogroup("/autogroup-1 nice 0\n"), Some(0));
        assert_eq!(parse_autogroup(""), None);
        assert_eq!(parse_autogroup("nice"), None);
    }
}

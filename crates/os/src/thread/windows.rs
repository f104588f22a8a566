//! Windows: thread affinity within a processor group, and the priority classes of the process.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::io;

use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    ABOVE_NORMAL_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS, GetCurrentProcess, GetCurrentProcessorNumberEx,
    GetCurrentThread, GetCurrentThreadId, GetPriorityClass, GetThreadGroupAffinity, HIGH_PRIORITY_CLASS,
    IDLE_PRIORITY_CLASS, NORMAL_PRIORITY_CLASS, REALTIME_PRIORITY_CLASS, SetPriorityClass,
    SetThreadGroupAffinity,
};

use super::CpuSet;
use crate::support::Unsupported;

/// CPUs to a processor group in the numbering of this crate: the width of an affinity mask on 64-bit Windows.
const GROUP_SIZE: usize = 64;

pub(super) fn pin_current(cpus: &CpuSet) -> io::Result<()> {
    let mut masks = cpus.words().iter().enumerate().filter(|(_, mask)| **mask != 0);
    let (Some((group, &mask)), None) = (masks.next(), masks.next()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a thread can only be bound to the CPUs of one processor group (64 CPUs)",
        ));
    };
    let affinity = GROUP_AFFINITY {
        Mask: mask as usize,
        Group: group as u16,
        Reserved: [0; 3],
    };
    // SAFETY: the pseudo-handle is always valid; `affinity` is initialised; the old value is not asked for.
    let done =
        unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, std::ptr::null_mut()) };
    if done == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

pub(super) fn current_affinity() -> io::Result<CpuSet> {
    let mut affinity = GROUP_AFFINITY {
        Mask: 0,
        Group: 0,
        Reserved: [0; 3],
    };
    // SAFETY: the pseudo-handle is always valid; `affinity` is a valid place for the answer.
    if unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut words = vec![0; usize::from(affinity.Group)];
    words.push(affinity.Mask as u64);
    Ok(CpuSet::from_words(words))
}

#[inline]
pub(super) fn current_cpu() -> usize {
    let mut number = PROCESSOR_NUMBER {
        Group: 0,
        Number: 0,
        Reserved: 0,
    };
    // SAFETY: `number` is a valid place for the answer; the call cannot fail.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    usize::from(number.Group) * GROUP_SIZE + usize::from(number.Number)
}

pub(super) fn current_id() -> u32 {
    // SAFETY: no preconditions.
    unsafe { GetCurrentThreadId() }
}

pub(super) fn set_realtime() -> io::Result<()> {
    // SAFETY: the pseudo-handle of the own process is always valid.
    let done = unsafe { SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS) };
    // Who may not have the class is given the next lower one without an error.
    // SAFETY: as above.
    if done == 0 || unsafe { GetPriorityClass(GetCurrentProcess()) } != REALTIME_PRIORITY_CLASS {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// Each class with the range of nice values that it stands for; the first number is the one reported.
const CLASSES: [(i32, u32); 5] = [
    (-20, HIGH_PRIORITY_CLASS),
    (-10, ABOVE_NORMAL_PRIORITY_CLASS),
    (0, NORMAL_PRIORITY_CLASS),
    (10, BELOW_NORMAL_PRIORITY_CLASS),
    (19, IDLE_PRIORITY_CLASS),
];

pub(super) fn set_nice(nice: i32) -> io::Result<i32> {
    let class = CLASSES
        .iter()
        .min_by_key(|(value, _)| (value - nice).abs())
        .map_or(NORMAL_PRIORITY_CLASS, |c| c.1);
    // SAFETY: the pseudo-handle of the own process is always valid.
    if unsafe { SetPriorityClass(GetCurrentProcess(), class) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // Windows lowers a class that the user may not have without calling it an error, so ask what is in force.
    // SAFETY: as above.
    let granted = unsafe { GetPriorityClass(GetCurrentProcess()) };
    Ok(CLASSES
        .iter()
        .find(|(_, class)| *class == granted)
        .map_or(0, |c| c.0))
}

pub(super) fn leave_autogroup() -> Result<i32, Unsupported> {
    Err(Unsupported::new(
        "Windows does not group processes by session when it shares out CPU time",
    ))
}

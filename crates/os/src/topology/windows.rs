//! Windows: GetLogicalProcessorInformationEx for the machine, affinity masks for ourselves.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::io;

use windows_sys::Win32::Foundation::ERROR_INSUFFICIENT_BUFFER;
use windows_sys::Win32::System::SystemInformation::{GetLogicalProcessorInformationEx, RelationAll};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessAffinityMask};

use super::{Cpu, nt_records};
use crate::thread::{self, CpuSet};

pub(super) fn cpus() -> io::Result<Vec<Cpu>> {
    let cpus = nt_records::cpus(&relations()?);
    if !cpus.is_empty() {
        return Ok(cpus);
    }
    // A system that tells nothing: separate cores of one socket.
    let lonely = |id| Cpu {
        id,
        core: id,
        package: 0,
        smt_siblings: vec![id],
        llc_id: None,
        numa: None,
    };
    Ok(thread::current_affinity()?.iter().map(lonely).collect())
}

pub(super) fn online() -> io::Result<CpuSet> {
    Ok(cpus()?.iter().map(|cpu| cpu.id).collect())
}

pub(super) fn allowed() -> io::Result<CpuSet> {
    let (mut process, mut system) = (0_usize, 0_usize);
    // SAFETY: the pseudo-handle is valid and the two places are valid.
    let done = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut process, &raw mut system) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    // A process that nobody has restricted may also send threads to the other processor groups; both masks are zero
    // when its threads already are in several (GetProcessAffinityMask, remarks).
    if process == system {
        online()
    } else {
        thread::current_affinity()
    }
}

fn relations() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::<u8>::new();
    loop {
        let mut length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // SAFETY: the pointer and the length describe `bytes`; the records are only read as bytes, so their
        // alignment does not matter to us, and the system writes them as bytes too.
        let done = unsafe {
            GetLogicalProcessorInformationEx(RelationAll, bytes.as_mut_ptr().cast(), &raw mut length)
        };
        if done != 0 {
            bytes.truncate(length as usize);
            return Ok(bytes);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(ERROR_INSUFFICIENT_BUFFER as i32) || length as usize <= bytes.len() {
            return Err(error);
        }
        bytes.resize(length as usize, 0);
    }
}

//! Reading the tables that Windows hands out as untyped bytes.
//!
//! `NtQuerySystemInformation` fills a buffer with records whose layout winternl.h and the debugger's symbols describe. They
//! are read by offset from a byte slice, so a short or strange answer becomes an error and never a wild pointer.
//! Offsets are those of 64-bit Windows.

#![expect(unsafe_code, reason = "NtQuerySystemInformation has no safe form")]

use std::io;

use windows_sys::Wdk::System::SystemInformation::NtQuerySystemInformation;
use windows_sys::Win32::Foundation::STATUS_INFO_LENGTH_MISMATCH;

const SYSTEM_PERFORMANCE_INFORMATION: i32 = 2;
const SYSTEM_PROCESS_INFORMATION: i32 = 5;
const SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION: i32 = 8;

/// What the list of processes says about one process, or about one of its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) context_switches: u64,
    pub(super) hard_faults: u64,
}

/// Finds the process; with `thread`, the switches are that thread's alone.
pub(super) fn own(process: u32, thread: Option<u32>) -> io::Result<Own> {
    find(&query(SYSTEM_PROCESS_INFORMATION)?, process, thread).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "this process is not in the system's list",
        )
    })
}

/// Context switches of the machine; the system counts them in 32 bits.
pub(super) fn system_context_switches() -> io::Result<u64> {
    const CONTEXT_SWITCHES: usize = 296;
    u32_at(&query(SYSTEM_PERFORMANCE_INFORMATION)?, CONTEXT_SWITCHES)
        .map(u64::from)
        .ok_or_else(too_short)
}

/// Interrupts, summed over the CPUs of the current processor group.
pub(super) fn system_interrupts() -> io::Result<u64> {
    const RECORD: usize = 48;
    const INTERRUPT_COUNT: usize = 40;
    let bytes = query(SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION)?;
    Ok(bytes
        .chunks_exact(RECORD)
        .filter_map(|record| u32_at(record, INTERRUPT_COUNT))
        .map(u64::from)
        .sum())
}

fn query(class: i32) -> io::Result<Vec<u8>> {
    /// More than any table; a system that asks for more is answering nonsense.
    const MAX_BYTES: usize = 256 << 20;
    let mut bytes = vec![0_u8; 1024];
    while bytes.len() <= MAX_BYTES {
        let mut needed = 0_u32;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // SAFETY: the pointer and the length describe `bytes`; `needed` is a valid place.
        let status =
            unsafe { NtQuerySystemInformation(class, bytes.as_mut_ptr().cast(), length, &raw mut needed) };
        if status >= 0 {
            bytes.truncate(needed as usize);
            return Ok(bytes);
        }
        if status != STATUS_INFO_LENGTH_MISMATCH {
            return Err(io::Error::other(format!(
                "the system refused its table {class} with status {status:#x}"
            )));
        }
        // Some systems insist on the exact size, and the list of processes grows while we ask: first what was
        // asked for, then more.
        let exact = needed as usize;
        let next = if exact > bytes.len() || (exact > 0 && bytes.len() == 1024) {
            exact
        } else {
            bytes.len() * 2
        };
        bytes.resize(next, 0);
    }
    Err(too_short())
}

fn find(bytes: &[u8], process: u32, thread: Option<u32>) -> Option<Own> {
    const NEXT: usize = 0;
    const THREADS: usize = 4;
    const HARD_FAULTS: usize = 16;
    const PROCESS: usize = 80;
    const HEADER: usize = 256;
    const THREAD_RECORD: usize = 80;
    const THREAD: usize = 48;
    const CONTEXT_SWITCHES: usize = 64;

    let mut rest = bytes;
    loop {
        if u64_at(rest, PROCESS)? == u64::from(process) {
            let count = u32_at(rest, THREADS)? as usize;
            let threads = rest.get(HEADER..)?.chunks_exact(THREAD_RECORD).take(count);
            let wanted =
                threads.filter(|record| thread.is_none_or(|id| u64_at(record, THREAD) == Some(id.into())));
            let switches = wanted
                .filter_map(|record| u32_at(record, CONTEXT_SWITCHES))
                .map(u64::from);
            return Some(Own {
                context_switches: switches.sum(),
                hard_faults: u32_at(rest, HARD_FAULTS)?.into(),
            });
        }
        match u32_at(rest, NEXT)? as usize {
            0 => return None,
            next => rest = rest.get(next..)?,
        }
    }
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes
        .get(offset..offset + 4)?
        .try_into()
        .ok()
        .map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes
        .get(offset..offset + 8)?
        .try_into()
        .ok()
        .map(u64::from_le_bytes)
}

fn too_short() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the system's table is too short")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut [u8], offset: usize, value: u32) {
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn a_process_is_found_behind_another() {
        let mut bytes = vec![0_u8; 336 + 256 + 160];
        put(&mut bytes, 0, 336);
        put(&mut bytes, 80, 4);
        put(&mut bytes, 336 + 4, 2);
        put(&mut bytes, 336 + 16, 7);
        put(&mut bytes, 336 + 80, 1234);
        for (thread, (id, switches)) in [(99, 10), (100, 32)].into_iter().enumerate() {
            let at = 336 + 256 + thread * 80;
            put(&mut bytes, at + 48, id);
            put(&mut bytes, at + 64, switches);
        }
        assert_eq!(
            find(&bytes, 1234, None),
            Some(Own {
                context_switches: 42,
                hard_faults: 7
            })
        );
        assert_eq!(
            find(&bytes, 1234, Some(100)),
            Some(Own {
                context_switches: 32,
                hard_faults: 7
            })
        );
        assert_eq!(find(&bytes, 9, None), None);
        for length in 0..bytes.len() {
            let _ = find(&bytes[..length], 1234, None);
        }
    }

    #[test]
    fn this_process_is_in_the_list() {
        let own = own(std::process::id(), None).unwrap();
        let thread = super::own(std::process::id(), Some(crate::thread::current_id())).unwrap();
        assert!(thread.context_switches <= own.context_switches);
    }
}

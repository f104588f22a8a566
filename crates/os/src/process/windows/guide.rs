//! Accompanies a command to a place in its program, and keeps the time.
#![expect(
    unsafe_code,
    reason = "a breakpoint is written into another process by raw calls"
)]

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::path::Path;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Diagnostics::Debug::{
    FlushInstructionCache, ReadProcessMemory, WriteProcessMemory,
};

use super::super::visit::{Arrival, Place, Visit};

/// The instruction that stops a process that is debugged.
#[cfg(target_arch = "x86_64")]
const BREAK: &[u8] = &[0xcc];
#[cfg(target_arch = "aarch64")]
const BREAK: &[u8] = &0xd43e_0000_u32.to_le_bytes();

/// The state of a visit. A command of this system is one program from its beginning to its end.
pub struct Guide {
    visit: Visit,
    ran: Duration,
    since: Option<Instant>,
    address: Option<usize>,
    /// What became of the visit.
    pub arrival: Arrival,
    /// Why the visit cannot go on.
    pub refused: Option<String>,
}

impl Guide {
    /// A visit that has not begun.
    pub fn new(visit: Visit) -> Self {
        Self {
            visit,
            ran: Duration::ZERO,
            since: None,
            address: None,
            arrival: Arrival::default(),
            refused: None,
        }
    }

    /// An event was reported, and the command stands still.
    pub fn stopped(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.ran += now.saturating_duration_since(since);
        }
    }

    /// The command is let go; to be called right before. Nothing is counted before the process was made.
    pub fn goes_on(&mut self) {
        if !self.arrival.exe.as_os_str().is_empty() {
            self.since = Some(Instant::now());
        }
    }

    /// The process was made, with the program's image at `base`.
    pub fn on_made(&mut self, process: BorrowedHandle<'_>, exe: &Path, base: usize) {
        exe.clone_into(&mut self.arrival.exe);
        let linked = match self.visit.place {
            Place::Entry => entry(process, base),
            Place::Found(find) => Ok(find(exe)),
        };
        let planted = linked.and_then(|offset| {
            let Some(offset) = offset else { return Ok(()) };
            let address = base.wrapping_add(offset as usize);
            self.address = Some(address);
            write(process, address, BREAK)
        });
        if let Err(error) = planted {
            self.refused = Some(format!(
                "{} cannot be stopped at its beginning ({error}); time it to its exit",
                exe.display()
            ));
        }
    }

    /// A breakpoint was met; whether it was that of the visit, which then is over.
    pub fn on_breakpoint(&mut self, address: usize) -> bool {
        if self.address != Some(address) {
            return false;
        }
        self.arrival.ns = Some(u64::try_from(self.ran.as_nanos()).unwrap_or(u64::MAX));
        true
    }
}

/// How far the first instruction is behind the image's beginning (`AddressOfEntryPoint`); `None` for an image without one.
fn entry(process: BorrowedHandle<'_>, base: usize) -> io::Result<Option<u64>> {
    const E_LFANEW: usize = 0x3c;
    /// Behind the signature and the file header: the same place in both sizes of the optional header.
    const ENTRY: usize = 4 + 20 + 16;
    let header = read(process, base + E_LFANEW)?;
    let entry = read(process, base.wrapping_add(header as usize + ENTRY))?;
    Ok((entry != 0).then_some(entry.into()))
}

fn read(process: BorrowedHandle<'_>, address: usize) -> io::Result<u32> {
    let mut bytes = [0; 4];
    let place = std::ptr::without_provenance(address);
    // SAFETY: `bytes` takes as many bytes as are asked for; the address is one of the other process and checked by the system.
    let done = unsafe {
        ReadProcessMemory(
            process.as_raw_handle(),
            place,
            bytes.as_mut_ptr().cast(),
            bytes.len(),
            std::ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u32::from_le_bytes(bytes))
}

fn write(process: BorrowedHandle<'_>, address: usize, bytes: &[u8]) -> io::Result<()> {
    let place = std::ptr::without_provenance(address);
    // SAFETY: `bytes` has as many bytes as are written; the address is one of the other process and checked by the system.
    let done = unsafe {
        WriteProcessMemory(
            process.as_raw_handle(),
            place,
            bytes.as_ptr().cast(),
            bytes.len(),
            std::ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: numbers only.
    unsafe { FlushInstructionCache(process.as_raw_handle(), place, bytes.len()) };
    Ok(())
}

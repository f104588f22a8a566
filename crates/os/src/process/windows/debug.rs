//! The debugging interface's events, each with what is needed of it.
#![expect(
    unsafe_code,
    reason = "debug events are a C union, awaited and continued by raw calls"
)]

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;

use windows_sys::Win32::Foundation::{
    DBG_CONTINUE, DBG_EXCEPTION_NOT_HANDLED, EXCEPTION_BREAKPOINT, HANDLE, NTSTATUS,
};
use windows_sys::Win32::Storage::FileSystem::GetFinalPathNameByHandleW;
use windows_sys::Win32::System::Diagnostics::Debug::{
    CREATE_PROCESS_DEBUG_EVENT, CREATE_THREAD_DEBUG_EVENT, ContinueDebugEvent, DEBUG_EVENT,
    EXCEPTION_DEBUG_EVENT, EXIT_PROCESS_DEBUG_EVENT, LOAD_DLL_DEBUG_EVENT, WaitForDebugEvent,
};

/// What happened in a process that is being debugged.
pub enum What {
    /// It was made, from this file, and its image stands at this address.
    Made(PathBuf, usize),
    /// It made a thread.
    Thread,
    /// It loaded this library.
    Library(PathBuf),
    /// It ended with this code.
    Ended(u32),
    /// It came upon a breakpoint at this address.
    Breakpoint(usize),
    /// Nothing of interest.
    Other,
}

/// An event; the process stands still until it is dropped.
pub struct Event {
    /// The process.
    pub process: u32,
    /// What happened.
    pub what: What,
    /// The thread in which it happened.
    pub thread: u32,
    answer: NTSTATUS,
}

impl Event {
    /// Waits for the next event of the processes that this very thread debugs, `milliseconds` at most.
    pub fn next(milliseconds: u32) -> Option<Self> {
        let mut event = DEBUG_EVENT::default();
        // SAFETY: `event` is a place for the answer.
        if unsafe { WaitForDebugEvent(&raw mut event, milliseconds) } == 0 {
            return None;
        }
        let mut answer = DBG_CONTINUE;
        let what = match event.dwDebugEventCode {
            CREATE_PROCESS_DEBUG_EVENT => {
                // SAFETY: the code says that this member of the union is filled.
                let made = unsafe { event.u.CreateProcessInfo };
                What::Made(path(made.hFile), made.lpBaseOfImage.addr())
            }
            LOAD_DLL_DEBUG_EVENT => {
                // SAFETY: the code says that this member of the union is filled.
                What::Library(path(unsafe { event.u.LoadDll }.hFile))
            }
            CREATE_THREAD_DEBUG_EVENT => What::Thread,
            EXIT_PROCESS_DEBUG_EVENT => {
                // SAFETY: the code says that this member of the union is filled.
                What::Ended(unsafe { event.u.ExitProcess }.dwExitCode)
            }
            EXCEPTION_DEBUG_EVENT => {
                // SAFETY: the code says that this member of the union is filled.
                let record = unsafe { event.u.Exception }.ExceptionRecord;
                // The system itself breaks once into every process that is debugged; the program's own
                // exceptions go where they would without us.
                if record.ExceptionCode == EXCEPTION_BREAKPOINT {
                    What::Breakpoint(record.ExceptionAddress.addr())
                } else {
                    answer = DBG_EXCEPTION_NOT_HANDLED;
                    What::Other
                }
            }
            _ => What::Other,
        };
        Some(Self {
            process: event.dwProcessId,
            what,
            thread: event.dwThreadId,
            answer,
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the numbers are those of the event that stopped the process.
        unsafe { ContinueDebugEvent(self.process, self.thread, self.answer) };
    }
}

/// The path of the file, whose handle is ours to close.
fn path(file: HANDLE) -> PathBuf {
    /// The longest path that Windows has.
    const MAX_UNITS: usize = 32_768;
    if file.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the interface hands the handle over to the debugger.
    let file = unsafe { OwnedHandle::from_raw_handle(file) };
    let mut units = vec![0_u16; MAX_UNITS];
    // SAFETY: the handle is open and the buffer has the size that is given.
    let length =
        unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), units.as_mut_ptr(), MAX_UNITS as u32, 0) };
    let units = units.get(..length as usize).unwrap_or_default();
    let path = OsString::from_wide(units);
    // The form without a length limit, which nobody writes.
    match path.to_str().and_then(|path| path.strip_prefix(r"\\?\")) {
        Some(plain) => plain.into(),
        None => path.into(),
    }
}

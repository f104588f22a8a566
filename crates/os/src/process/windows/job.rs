//! Job objects: a fence around a command and all its descendants.
//!
//! A process cannot leave its job, its children are born into it, and closing the last handle of a job made so
//! ends everyone inside. That is all that "nothing is left behind" needs, also when we are killed: the system
//! closes our handles.
#![expect(unsafe_code, reason = "job objects are reached by raw calls")]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::IO::{CreateIoCompletionPort, GetQueuedCompletionStatus, OVERLAPPED};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_ASSOCIATE_COMPLETION_PORT,
    JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION, JOBOBJECT_BASIC_PROCESS_ID_LIST,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS, JobObjectAssociateCompletionPortInformation,
    JobObjectBasicAndIoAccountingInformation, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};

/// The port's message that the last member is gone (winnt.h).
const JOB_OBJECT_MSG_ACTIVE_PROCESS_ZERO: u32 = 4;

/// As many members are listed by number.
const LISTED: usize = 1024;

/// A job with the port on which it tells of its emptiness.
pub struct Job {
    handle: OwnedHandle,
    port: OwnedHandle,
}

/// The head and the room of JOBOBJECT_BASIC_PROCESS_ID_LIST, which C declares with one element.
#[repr(C)]
struct Members {
    head: JOBOBJECT_BASIC_PROCESS_ID_LIST,
    room: [usize; LISTED],
}

impl Job {
    /// An empty job that ends its members when it is closed. An unhandled exception ends a member at once,
    /// without a dialogue that would wait for somebody.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no attributes and no name.
        let handle = owned(unsafe { CreateJobObjectW(null(), null()) })?;
        // SAFETY: a port without a file.
        let port = owned(unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, null_mut(), 0, 1) })?;
        let job = Self { handle, port };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags =
            JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        job.set(JobObjectExtendedLimitInformation, &limits)?;
        let association = JOBOBJECT_ASSOCIATE_COMPLETION_PORT {
            CompletionKey: null_mut(),
            CompletionPort: job.port.as_raw_handle(),
        };
        job.set(JobObjectAssociateCompletionPortInformation, &association)?;
        Ok(job)
    }

    /// The handle, for the attribute list of CreateProcess.
    pub fn raw(&self) -> HANDLE {
        self.handle.as_raw_handle()
    }

    /// Whether the process is inside.
    pub fn contains(&self, process: HANDLE) -> bool {
        let mut inside = 0;
        // SAFETY: both handles are open, and `inside` is a place for the answer.
        let done = unsafe { IsProcessInJob(process, self.raw(), &raw mut inside) };
        done != 0 && inside != 0
    }

    /// Puts a process inside.
    pub fn assign(&self, process: HANDLE) -> io::Result<()> {
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.raw(), process) })
    }

    /// CPU time, faults, bytes and numbers of members since the job was made.
    pub fn accounts(&self) -> io::Result<JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION> {
        let mut accounts = JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION::default();
        self.query(JobObjectBasicAndIoAccountingInformation, &mut accounts)?;
        Ok(accounts)
    }

    /// The most memory that all members together had committed at one time, in bytes; 0 where it is not counted.
    pub fn peak_memory(&self) -> u64 {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        self.query(JobObjectExtendedLimitInformation, &mut limits)
            .map_or(0, |()| limits.PeakJobMemoryUsed as u64)
    }

    /// The members that are running.
    pub fn members(&self) -> Vec<u32> {
        let mut members = Members {
            head: JOBOBJECT_BASIC_PROCESS_ID_LIST::default(),
            room: [0; LISTED],
        };
        // More members than there is room for is an error that fills the room.
        let _ = self.query(JobObjectBasicProcessIdList, &mut members);
        let count = members.head.NumberOfProcessIdsInList as usize;
        let numbers = members.head.ProcessIdList.into_iter().chain(members.room);
        numbers
            .take(count)
            .filter_map(|number| u32::try_from(number).ok())
            .collect()
    }

    /// Ends all members with this exit code.
    pub fn terminate(&self, code: u32) {
        // SAFETY: the handle is open. It fails only when the job is already empty.
        unsafe { TerminateJobObject(self.raw(), code) };
    }

    /// Waits until no member is left, `limit` at most; whether none is.
    pub fn wait_empty(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            if self.members().is_empty() {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // Messages may be lost, says the manual: look again after a while in any case.
            let milliseconds = u32::try_from(left.as_millis()).unwrap_or(u32::MAX).clamp(1, 20);
            let (mut message, mut key, mut overlapped): (u32, usize, *mut OVERLAPPED) = (0, 0, null_mut());
            // SAFETY: the port is open and all three are places for answers.
            let got = unsafe {
                GetQueuedCompletionStatus(
                    self.port.as_raw_handle(),
                    &raw mut message,
                    &raw mut key,
                    &raw mut overlapped,
                    milliseconds,
                )
            };
            if got != 0 && message == JOB_OBJECT_MSG_ACTIVE_PROCESS_ZERO {
                return true;
            }
        }
    }

    fn set<T>(&self, class: JOBOBJECTINFOCLASS, value: &T) -> io::Result<()> {
        // SAFETY: the callers in this file pair each class with its structure.
        check(unsafe {
            SetInformationJobObject(
                self.raw(),
                class,
                std::ptr::from_ref(value).cast(),
                size_of::<T>() as u32,
            )
        })
    }

    fn query<T>(&self, class: JOBOBJECTINFOCLASS, value: &mut T) -> io::Result<()> {
        // SAFETY: the callers in this file pair each class with its structure.
        check(unsafe {
            QueryInformationJobObject(
                self.raw(),
                class,
                std::ptr::from_mut(value).cast(),
                size_of::<T>() as u32,
                null_mut(),
            )
        })
    }
}

fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh handle that nobody else owns.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn check(done: i32) -> io::Result<()> {
    if done == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

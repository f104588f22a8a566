//! Makes the process of a command: in its job from the first instant, with its three streams and no other
//! handle, suspended until all is set.
#![expect(unsafe_code, reason = "CreateProcess and its attribute list are raw calls")]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, InitializeProcThreadAttributeList,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION, ResumeThread,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, SetProcessAffinityMask, TerminateProcess,
    UpdateProcThreadAttribute,
};

use super::super::{LaunchError, Spec};
use super::job::Job;
use super::{command_line, failure, streams};

/// What CreateProcess needs, made before the clock starts.
pub struct Prepared {
    application: Vec<u16>,
    line: Vec<u16>,
    environment: Vec<u16>,
    directory: Option<Vec<u16>>,
    streams: [OwnedHandle; 3],
}

/// A process of ours that does not run yet.
pub struct Suspended {
    /// The process.
    pub process: OwnedHandle,
    /// Its number, which is also that of its console group.
    pub id: u32,
    /// Whether it was born into its job (otherwise it was put there before its first instruction).
    pub born_in_job: bool,
    thread: OwnedHandle,
}

impl Prepared {
    /// Prepares to start `spec` from the file at `path`.
    pub fn new(spec: &Spec, path: &Path) -> Result<Self, LaunchError> {
        let directory = spec
            .cwd
            .as_deref()
            .map(|directory| command_line::wide(directory.as_os_str()));
        Ok(Self {
            application: command_line::wide(path.as_os_str())?,
            line: command_line::command_line(spec)?,
            environment: command_line::environment(&spec.env)?,
            directory: directory.transpose()?,
            streams: streams::open(spec)?,
        })
    }

    /// Makes the process, with further creation `flags`. It is in `job` before it runs.
    pub fn create(&mut self, job: &Job, flags: u32) -> io::Result<Suspended> {
        // Systems before Windows 10 do not know the attribute for the job; the process is then assigned.
        let suspended = match self.try_create(job, flags, true) {
            Err(_) => self.try_create(job, flags, false)?,
            made => made?,
        };
        let process = suspended.process.as_raw_handle();
        let born_in_job = job.contains(process);
        if !born_in_job && let Err(error) = job.assign(process) {
            suspended.terminate();
            return Err(error);
        }
        Ok(Suspended {
            born_in_job,
            ..suspended
        })
    }

    fn try_create(&mut self, job: &Job, flags: u32, with_job: bool) -> io::Result<Suspended> {
        let handles = self.streams.each_ref().map(AsRawHandle::as_raw_handle);
        let jobs = [job.raw()];
        let mut attributes = Attributes::new()?;
        attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
        if with_job {
            attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
        }
        let mut startup = STARTUPINFOEXW::default();
        startup.StartupInfo.cb = size_of::<STARTUPINFOEXW>() as u32;
        startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
        [
            startup.StartupInfo.hStdInput,
            startup.StartupInfo.hStdOutput,
            startup.StartupInfo.hStdError,
        ] = handles;
        startup.lpAttributeList = attributes.pointer();
        let mut made = PROCESS_INFORMATION::default();
        // SAFETY: every string ends with zero (the environment with two), the command line may be written to,
        // the startup information is of the extended kind that the flag announces, and all it points to lives
        // until the call returns.
        let done = unsafe {
            CreateProcessW(
                self.application.as_ptr(),
                self.line.as_mut_ptr(),
                null(),
                null(),
                1,
                flags
                    | CREATE_SUSPENDED
                    | CREATE_NEW_PROCESS_GROUP
                    | CREATE_UNICODE_ENVIRONMENT
                    | EXTENDED_STARTUPINFO_PRESENT,
                self.environment.as_ptr().cast(),
                self.directory
                    .as_ref()
                    .map_or(null(), |directory| directory.as_ptr()),
                (&raw const startup).cast(),
                &raw mut made,
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh handle that nobody else owns.
        let process = unsafe { OwnedHandle::from_raw_handle(made.hProcess) };
        // SAFETY: likewise.
        let thread = unsafe { OwnedHandle::from_raw_handle(made.hThread) };
        Ok(Suspended {
            process,
            id: made.dwProcessId,
            born_in_job: false,
            thread,
        })
    }
}

impl Suspended {
    /// Binds it to CPUs of the first 64.
    pub fn bind(&self, cpus: &[usize]) -> Result<(), LaunchError> {
        let mask = cpus
            .iter()
            .filter(|&&cpu| cpu < 64)
            .fold(0_usize, |mask, cpu| mask | 1 << cpu);
        // SAFETY: the handle is open; an impossible mask is refused.
        if unsafe { SetProcessAffinityMask(self.process.as_raw_handle(), mask) } == 0 {
            let source = io::Error::last_os_error();
            self.terminate();
            return Err(LaunchError::BadCpus {
                cpus: cpus.to_vec(),
                source,
            });
        }
        Ok(())
    }

    /// Lets it run.
    pub fn resume(&self) -> io::Result<()> {
        // SAFETY: the handle of its only thread is open.
        if unsafe { ResumeThread(self.thread.as_raw_handle()) } == u32::MAX {
            let error = io::Error::last_os_error();
            self.terminate();
            return Err(error);
        }
        Ok(())
    }

    fn terminate(&self) {
        // SAFETY: the handle is open. Should it fail, closing the job ends the process.
        unsafe { TerminateProcess(self.process.as_raw_handle(), 1) };
    }
}

/// An attribute list with room for two.
struct Attributes {
    /// Words, for its alignment.
    memory: Vec<usize>,
}

impl Attributes {
    const COUNT: u32 = 2;

    fn new() -> io::Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a list the call only tells the size, and reports that as an error.
        unsafe { InitializeProcThreadAttributeList(null_mut(), Self::COUNT, 0, &raw mut bytes) };
        let mut memory = vec![0_usize; bytes.div_ceil(size_of::<usize>())];
        // SAFETY: the memory has the size that was asked for.
        let done = unsafe {
            InitializeProcThreadAttributeList(memory.as_mut_ptr().cast(), Self::COUNT, 0, &raw mut bytes)
        };
        if done == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self { memory })
        }
    }

    fn pointer(&mut self) -> *mut core::ffi::c_void {
        self.memory.as_mut_ptr().cast()
    }

    /// Sets an attribute whose value is a row of handles; the list keeps only a pointer to it.
    fn set<const N: usize>(&mut self, attribute: u32, handles: &[HANDLE; N]) -> io::Result<()> {
        // SAFETY: the list is initialised; the caller keeps `handles` until the process is made.
        let done = unsafe {
            UpdateProcThreadAttribute(
                self.pointer(),
                0,
                attribute as usize,
                handles.as_ptr().cast(),
                size_of_val(handles),
                null_mut(),
                null(),
            )
        };
        if done == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and no process is being made with it any more.
        unsafe { DeleteProcThreadAttributeList(self.pointer()) };
    }
}

/// Makes the process or says why not.
pub fn create(
    prepared: &mut Prepared,
    spec: &Spec,
    path: &Path,
    job: &Job,
    flags: u32,
) -> Result<Suspended, LaunchError> {
    let suspended = prepared
        .create(job, flags)
        .map_err(|error| failure::explain(spec, path, error))?;
    if let Some(cpus) = &spec.cpus {
        suspended.bind(cpus)?;
    }
    Ok(suspended)
}

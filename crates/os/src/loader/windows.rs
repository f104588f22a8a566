//! Windows: the search of a command interpreter, and the modules of a process.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::System::ProcessStatus::{
    K32EnumProcessModulesEx, K32GetModuleFileNameExW, LIST_MODULES_ALL,
};
use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_QUERY_INFORMATION, PROCESS_VM_READ};

use super::{InstalledHeap, NotFound, Program, Tunable};

/// Windows loads what a program's import table names and nothing else.
pub(super) const PRELOAD_VARIABLE: Option<&str> = None;

/// In the order of a command interpreter; the empty one stands for a name that has its extension.
const EXTENSIONS: [&str; 5] = ["", ".com", ".exe", ".bat", ".cmd"];

pub(super) fn find_in_path(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, NotFound> {
    let name = program.to_string_lossy().into_owned();
    let has_folder = Path::new(program).components().count() > 1 || Path::new(program).is_absolute();
    let folders: Vec<PathBuf> = match path {
        _ if has_folder => vec![PathBuf::new()],
        Some(path) => std::env::split_paths(path).collect(),
        None => Vec::new(),
    };
    let searched = match path {
        _ if has_folder => "that place".to_owned(),
        path => format!(
            "the folders of PATH ({})",
            path.unwrap_or_default().to_string_lossy()
        ),
    };
    if program.is_empty() {
        return Err(NotFound::Missing { name, searched });
    }
    let mut forbidden = None;
    for folder in folders {
        for extension in EXTENSIONS {
            let mut file = program.to_owned();
            file.push(extension);
            let file = folder.join(file);
            match file.metadata() {
                Ok(metadata) if metadata.is_file() && runs(&file) => return Ok(file),
                Ok(metadata) => {
                    let why = if metadata.is_dir() {
                        "it is a folder"
                    } else {
                        "its extension is not that of a program"
                    };
                    forbidden.get_or_insert(NotFound::NotExecutable { path: file, why });
                }
                Err(_) => {}
            }
        }
    }
    // A folder or a data file of that name matters only if it was named directly.
    Err(forbidden
        .filter(|_| has_folder)
        .unwrap_or(NotFound::Missing { name, searched }))
}

/// A path as an ELF file spells it; such a file is only looked at here, so a lossy reading will do.
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn runs(file: &Path) -> bool {
    let extension = file
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| {
        EXTENSIONS
            .iter()
            .any(|known| known.strip_prefix('.') == Some(&extension))
    })
}

/// Windows grants rights to users and asks them; no file carries any.
pub(super) fn privileges(_path: &Path, _program: &mut Program) {}

pub(super) fn tunables() -> Vec<Tunable> {
    Vec::new()
}

pub(super) fn tunables_of(_interpreter: &Path) -> Vec<Tunable> {
    Vec::new()
}

pub(super) fn diagnostics_of(_interpreter: &Path) -> String {
    String::new()
}

pub(super) fn hardware() -> (u64, u64) {
    (0, 0)
}

pub(super) fn installed_heaps() -> Vec<InstalledHeap> {
    Vec::new()
}

pub(super) fn mapped_libraries(pid: u32) -> io::Result<Vec<PathBuf>> {
    let process = Process::open(pid)?;
    let modules = process.modules()?;
    Ok(modules
        .into_iter()
        .filter_map(|module| process.file_of(module))
        .collect())
}

struct Process(HANDLE);

impl Process {
    fn open(pid: u32) -> io::Result<Self> {
        // SAFETY: plain integers.
        let handle = unsafe { OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, 0, pid) };
        if handle.is_null() {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self(handle))
        }
    }

    fn modules(&self) -> io::Result<Vec<*mut core::ffi::c_void>> {
        let mut modules = vec![std::ptr::null_mut(); 256];
        loop {
            let size = size_of_val(modules.as_slice()) as u32;
            let mut needed = 0_u32;
            // SAFETY: the handle is open; the pointer and the size describe `modules`.
            let done = unsafe {
                K32EnumProcessModulesEx(
                    self.0,
                    modules.as_mut_ptr(),
                    size,
                    &raw mut needed,
                    LIST_MODULES_ALL,
                )
            };
            if done == 0 {
                return Err(io::Error::last_os_error());
            }
            let count = needed as usize / size_of::<*mut core::ffi::c_void>();
            let enough = count <= modules.len();
            modules.resize(count, std::ptr::null_mut());
            if enough {
                return Ok(modules);
            }
        }
    }

    fn file_of(&self, module: *mut core::ffi::c_void) -> Option<PathBuf> {
        let mut name = vec![0_u16; 32_768];
        // SAFETY: the handle is open; the pointer and the length describe `name`. A module that has been unloaded
        // meanwhile is answered with 0.
        let length = unsafe { K32GetModuleFileNameExW(self.0, module, name.as_mut_ptr(), name.len() as u32) };
        let name = name.get(..length as usize).filter(|name| !name.is_empty())?;
        Some(PathBuf::from(OsString::from_wide(name)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: the handle was opened by us and is closed once.
        unsafe { CloseHandle(self.0) };
    }
}

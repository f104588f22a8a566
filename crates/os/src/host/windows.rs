//! Windows: RtlGetVersion, the registry, and a question that only Wine answers.

#![expect(unsafe_code, reason = "calls the Win32 API")]

use std::ffi::CStr;
use std::mem;

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{GetSystemTimeAdjustment, OSVERSIONINFOW};
use windows_sys::core::{PCWSTR, w};

use super::Host;
use crate::loader;
use crate::topology::Topology;

pub(super) fn read() -> Host {
    Host {
        kernel: kernel(),
        distribution: distribution(),
        libc: libc(),
        wine: wine(),
        smt: Topology::read()
            .ok()
            .map(|machine| machine.cpus.iter().any(|cpu| cpu.smt_siblings.len() > 1)),
        hz: hz(),
        ..Host::default()
    }
}

/// The true version; the documented calls pretend to be what a program's manifest says that it knows.
fn kernel() -> Option<String> {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..Default::default()
    };
    // SAFETY: `version` is a valid place and tells its size.
    let status = unsafe { RtlGetVersion(&raw mut version) };
    let OSVERSIONINFOW {
        dwMajorVersion,
        dwMinorVersion,
        dwBuildNumber,
        ..
    } = version;
    (status >= 0).then(|| format!("{dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber}"))
}

fn distribution() -> Option<String> {
    let product = registry(w!("ProductName"))?;
    Some(match registry(w!("DisplayVersion")) {
        Some(version) => format!("{product} {version}"),
        None => product,
    })
}

fn registry(name: PCWSTR) -> Option<String> {
    let mut text = [0_u16; 256];
    let mut size = size_of_val(&text) as u32;
    // SAFETY: the names end with zero; the pointer and the size in bytes describe `text`; the type is not asked for.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            w!("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"),
            name,
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    let end = text.iter().position(|&unit| unit == 0)?;
    let text = String::from_utf16_lossy(&text[..end]).trim().to_owned();
    (status == 0 && !text.is_empty()).then_some(text)
}

/// The C run-time library that this program imports: the universal one of every present-day compiler, or the old one that
/// MinGW uses. (Either may be loaded besides, by some other library.)
fn libc() -> Option<String> {
    let imports = loader::classify(&std::env::current_exe().ok()?).ok()?.needed;
    let imports = |prefix| {
        imports
            .iter()
            .any(|name| name.to_ascii_lowercase().starts_with(prefix))
    };
    let name = if imports("api-ms-win-crt") || imports("ucrtbase") {
        "ucrt"
    } else if imports("msvcrt.dll") {
        "msvcrt"
    } else {
        "linked in"
    };
    Some(name.to_owned())
}

fn wine() -> Option<String> {
    // SAFETY: the name is a wide text that ends with zero; ntdll is in every process.
    let library = unsafe { GetModuleHandleW(w!("ntdll.dll")) };
    // SAFETY: the name ends with zero.
    let found = unsafe { GetProcAddress(library, c"wine_get_version".as_ptr().cast()) }?;
    // SAFETY: Wine declares the function so; Windows has none of that name.
    let version = unsafe {
        mem::transmute::<
            unsafe extern "system" fn() -> isize,
            unsafe extern "C" fn() -> *const std::ffi::c_char,
        >(found)
    };
    // SAFETY: no arguments, no preconditions.
    let version = unsafe { version() };
    // SAFETY: it returns a constant text that ends with zero.
    Some(unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned())
}

/// From the length of the clock interrupt's period, in units of 100 ns.
fn hz() -> Option<u32> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: the three places are valid.
    let done = unsafe { GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled) };
    (done != 0 && increment > 0).then(|| (10_000_000 + increment / 2) / increment)
}

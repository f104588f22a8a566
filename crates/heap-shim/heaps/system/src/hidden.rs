//! Functions of the C library that have the name of one of ours.

use core::ffi::CStr;
use core::ffi::c_char;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering;

#[link(name = "c")]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// "The next library after this one", dlsym(3).
const RTLD_NEXT: *mut c_void = ptr::without_provenance_mut(usize::MAX);

/// A function behind ours, looked up once.
pub struct Hidden {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Hidden {
    pub const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The function, or `None` when no library after this one has it.
    ///
    /// # Safety
    /// `Function` is the function pointer type of this name in the C library.
    pub unsafe fn get<Function: Copy>(&self) -> Option<Function> {
        const { assert!(size_of::<Function>() == size_of::<*mut c_void>()) };
        let mut address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            // SAFETY: the name is a C string and the handle one of the documented constants.
            address = unsafe { dlsym(RTLD_NEXT, self.name.as_ptr()) };
            self.address.store(address, Ordering::Relaxed);
        }
        if address.is_null() {
            return None;
        }
        // SAFETY: a non-null address of a function, and by the caller's obligation of this type.
        Some(unsafe { core::mem::transmute_copy(&address) })
    }
}

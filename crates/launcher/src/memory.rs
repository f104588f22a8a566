//! The five functions that the compiler calls behind our back.
//!
//! Without a C library somebody has to provide them. They are plain loops, because nothing here copies more
//! than a page; the crate is `no_builtins`, or the compiler would recognise each loop and call itself.
#![expect(unsafe_code, reason = "the C contract of these functions is on raw pointers")]

/// Copies `count` bytes between regions that do not overlap.
///
/// # Safety
/// As memcpy(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller promises `count` readable bytes.
        let byte = unsafe { from.wrapping_add(i).read() };
        // SAFETY: and as many writable ones.
        unsafe { to.wrapping_add(i).write(byte) };
    }
    to
}

/// Copies `count` bytes between regions that may overlap.
///
/// # Safety
/// As memmove(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if to.addr() <= from.addr() {
        // SAFETY: going upwards never overwrites what is still to be read.
        return unsafe { memcpy(to, from, count) };
    }
    for i in (0..count).rev() {
        // SAFETY: the caller promises `count` readable bytes.
        let byte = unsafe { from.wrapping_add(i).read() };
        // SAFETY: and as many writable ones.
        unsafe { to.wrapping_add(i).write(byte) };
    }
    to
}

/// Fills `count` bytes.
///
/// # Safety
/// As memset(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller promises `count` writable bytes. Only the low byte counts, as in C.
        unsafe { to.wrapping_add(i).write(byte as u8) };
    }
    to
}

/// Compares `count` bytes.
///
/// # Safety
/// As memcmp(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for i in 0..count {
        // SAFETY: the caller promises `count` readable bytes on this side.
        let a = unsafe { left.wrapping_add(i).read() };
        // SAFETY: and on this one.
        let b = unsafe { right.wrapping_add(i).read() };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// Tells whether `count` bytes differ.
///
/// # Safety
/// As bcmp(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the same contract.
    unsafe { memcmp(left, right, count) }
}

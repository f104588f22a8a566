//! The kernel's books on a command that is gone but not yet reaped.
//!
//! While a process is a zombie its files in /proc still answer, with the final figures. What they know and
//! `wait4` does not: nanoseconds on a CPU, nanoseconds of waiting for one, and bytes read and written.

use crate::protocol::{Reply, UNKNOWN};
use crate::sys::{self, Fd};
use crate::text::{ProcPath, numbers};

/// Our own peak resident size in bytes. A command that is started by us can never show a smaller one: the
/// kernel copies it from the memory that the child shared with us until its exec.
///
/// Not from getrusage, which still tells the peak of the program that started us.
pub fn own_peak() -> u64 {
    let mut status = [0_u8; 2048];
    let text = read_proc(sys::pid(), "status", &mut status);
    let line = text
        .split(|&byte| byte == b'\n')
        .find(|line| line.starts_with(b"VmHWM:"));
    line.and_then(|line| numbers(line).next()).unwrap_or(0) * 1024
}

/// Our own books, opened ahead of time: what opening costs is not to be in them.
pub fn open_own_schedule() -> Option<Fd> {
    sys::open(b"/proc/self/schedstat\0").ok()
}

/// Our own nanoseconds on a processor, and of waiting for one; 0 where the kernel does not tell.
pub fn read_schedule(books: &Fd) -> [u64; 2] {
    let mut schedstat = [0_u8; 64];
    let length = sys::read(books.number(), &mut schedstat).unwrap_or(0);
    let mut values = numbers(schedstat.get(..length).unwrap_or_default());
    [values.next().unwrap_or(0), values.next().unwrap_or(0)]
}

/// Takes out of the books what the child did before it became the command; nearly all of that is the kernel's work for it.
pub fn leave_out(before: [u64; 2], reply: &mut Reply) {
    for (value, before) in [
        (&mut reply.main_cpu_ns, before[0]),
        (&mut reply.main_wait_ns, before[1]),
    ] {
        if *value != UNKNOWN {
            *value = value.saturating_sub(before);
        }
    }
    reply.system_us = reply.system_us.saturating_sub(before[0] / 1000);
}

/// Reads the books of the zombie `pid` into `reply`.
pub fn read_zombie(pid: i32, reply: &mut Reply) {
    let mut schedstat = [0_u8; 64];
    let mut values = numbers(read_proc(pid, "schedstat", &mut schedstat));
    reply.main_cpu_ns = values.next().unwrap_or(UNKNOWN);
    reply.main_wait_ns = values.next().unwrap_or(UNKNOWN);

    // Seven lines `name: number`: rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes.
    let mut io = [0_u8; 512];
    let mut values = numbers(read_proc(pid, "io", &mut io));
    reply.read_bytes = values.next().unwrap_or(UNKNOWN);
    reply.written_bytes = values.next().unwrap_or(UNKNOWN);
    reply.storage_read_bytes = values.nth(2).unwrap_or(UNKNOWN);
    reply.storage_written_bytes = values.next().unwrap_or(UNKNOWN);
}

/// What `wait4` told.
pub fn enter_usage(usage: &sys::Rusage, reply: &mut Reply) {
    reply.user_us = usage.user_us();
    reply.system_us = usage.system_us();
    reply.peak_rss_bytes = usage.peak_rss_bytes();
    reply.minor_faults = usage.minor_faults();
    reply.major_faults = usage.major_faults();
    reply.voluntary = usage.voluntary();
    reply.involuntary = usage.involuntary();
}

/// The text of `/proc/PID/FILE`; empty when it cannot be read (a set-user-id program hides its figures).
fn read_proc<'a>(pid: i32, file: &str, buffer: &'a mut [u8]) -> &'a [u8] {
    let Ok(fd) = sys::open(ProcPath::of(pid, file).as_bytes()) else {
        return &[];
    };
    let length = sys::read(fd.number(), buffer).unwrap_or(0);
    buffer.get(..length).unwrap_or_default()
}

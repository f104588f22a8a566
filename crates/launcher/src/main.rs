//! The launcher: starts commands for `underhood`, accounts for them exactly, leaves nothing behind.
//!
//! Two things make a large program a poor parent for a command that is to be measured. Making a process
//! costs time that grows with the parent's memory (fork copies page tables: 16 ms under 1 GiB), and the
//! kernel hands the parent's peak resident size on to the child through exec, so that a child of a 200 MB
//! program "peaks" at 200 MB whatever it is. So `underhood` starts this program once. It is a few pages long,
//! needs neither a C library nor the standard library, and serves one run after the other:
//!
//! - [`request`] reads what is to be run from the socket that is our standard input;
//! - [`run`] clones with shared memory while we are suspended (vfork), so that no page is copied, and the
//!   child, in [`child`], changes what is to be its own and executes the program; [`run`] then waits for a
//!   process descriptor, the socket and the time limit at once;
//! - [`account`] reads the kernel's books on the zombie before it is reaped;
//! - [`tree`] ends whatever the command left behind, which the kernel hands to us, its "subreaper".
//!
//! When the socket closes, `underhood` is gone, however that came about: everything we started is ended by
//! SIGKILL, and we leave. Should we ourselves be killed, the kernel kills the running command
//! (`PR_SET_PDEATHSIG`), though not the command's own children.
//!
//! The words on the socket are in [`protocol`].
#![no_std]
#![no_main]
#![no_builtins]

mod account;
mod arch;
mod child;
mod cpus;
mod memory;
#[expect(
    dead_code,
    reason = "the file is both sides'; each writes half of the messages and reads the other half"
)]
mod protocol;
mod request;
mod run;
mod sys;
mod text;
mod tree;

use cpus::Cpus;
use protocol::{CAN_ADOPT, CAN_IO, CAN_SCHEDSTAT, CAN_WALK, Hello, MAGIC};
use request::{Inbox, Incoming};

/// The socket to `underhood`: our standard input, so that an ordinary spawn can hand it over.
const CONTROL: i32 = 0;

/// Called by the entry point.
extern "C" fn launcher_main() -> ! {
    sys::reset_signals();
    sys::close_from(3);
    // Apart from the terminal: its signals are for `underhood`, which decides what becomes of the command.
    sys::own_session();
    if let Ok(root) = sys::open(b"/\0") {
        // No file system is kept busy by a program that only waits.
        let _ = sys::enter_directory(root.number());
    }
    let adopts = sys::adopt_orphans();
    let hello = Hello {
        magic: MAGIC,
        can: abilities(adopts),
        floor_bytes: account::own_peak(),
    };
    if send_all(&hello.to_bytes()) {
        serve();
    }
    sys::exit(0)
}

/// Runs what comes until nobody asks any more.
fn serve() {
    let cpus = Cpus::remember();
    let mut inbox = Inbox::new();
    loop {
        let reply = match inbox.next(CONTROL) {
            Incoming::Run(request) => run::run(&request, &cpus, CONTROL),
            // A run that ended by itself just before.
            Incoming::Cancel => continue,
            Incoming::Refused(reply) => reply,
            Incoming::Hangup => return,
        };
        inbox.shrink();
        if !send_all(&reply.to_bytes()) {
            return;
        }
    }
}

fn send_all(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match sys::send(CONTROL, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(sys::Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// What this kernel lets us do.
fn abilities(adopts: bool) -> u64 {
    let us = sys::pid();
    let mut can = if adopts { CAN_ADOPT } else { 0 };
    for (file, bit) in [("schedstat", CAN_SCHEDSTAT), ("io", CAN_IO)] {
        if sys::open(text::ProcPath::of(us, file).as_bytes()).is_ok() {
            can |= bit;
        }
    }
    if sys::open(text::ProcPath::of_task(us, us, "children").as_bytes()).is_ok() {
        can |= CAN_WALK;
    }
    can
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // `underhood` sees the socket close, and the kernel ends the running command with us.
    sys::exit(101)
}

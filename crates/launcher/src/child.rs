//! What a new process does before it becomes the command.
//!
//! It shares our memory while we are suspended, so it must leave no trace there but what its [`Plan`] has room
//! for. What can be inherited is prepared by the parent instead: default signal dispositions, an empty mask,
//! descriptors that close on exec, the CPU mask, the session.
#![expect(
    unsafe_code,
    reason = "it makes a process that runs on memory of ours, and executes"
)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use crate::account;
use crate::arch;
use crate::protocol::{STAGE_DIRECTORY, STAGE_EXEC, STAGE_STREAMS};
use crate::sys::{self, Errno, Fd};

/// What the child is to do, and where it reports that it could not.
pub struct Plan {
    /// Addresses for execve: the path, the argument and the environment vectors.
    pub program: [usize; 3],
    /// Standard input, output and error.
    pub streams: [i32; 3],
    /// The working directory, as a descriptor.
    pub directory: i32,
    /// Our own pid, by which the child notices that we are gone already.
    pub parent: i32,
    /// The stage that failed; 0 as long as none did.
    pub failed_stage: AtomicU64,
    /// The errno of that stage.
    pub errno: AtomicI32,
    /// The child's last reading of the clock before it executed its program.
    pub started_ns: AtomicU64,
    /// What stood in the child's books before that: nanoseconds on a processor, and of waiting for one.
    pub before: [AtomicU64; 2],
}

/// A child that has executed its program, or failed and left word in its plan.
pub struct Child {
    pub pid: i32,
    /// Becomes readable when the process is gone, all its threads included.
    pub process: Fd,
}

/// The child's stack. It makes a handful of system calls; 16 KiB leave room for an unoptimised build.
#[repr(align(16))]
struct Stack(UnsafeCell<[u8; 16 << 10]>);

// SAFETY: only one child at a time stands on it, and the only thread that makes children is suspended
// meanwhile.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; 16 << 10]));

/// Makes the child and returns when it has executed its program or ended. Until then we are suspended: no time
/// limit helps against a file system that lets an exec hang.
///
/// The older of the two clone calls is used on purpose: sandboxes commonly refuse clone3, whose arguments
/// they cannot inspect, and nothing here needs it.
///
/// # Safety
/// `plan.program` must be what execve asks for (see [`sys::execute`]).
pub unsafe fn spawn(plan: &Plan) -> Result<Child, Errno> {
    const CLONE_VM: usize = 0x100;
    const CLONE_PIDFD: usize = 0x1000;
    const CLONE_VFORK: usize = 0x4000;
    const SIGCHLD: usize = 17;
    let mut process = -1;
    let top = STACK.0.get().wrapping_add(1).cast::<u8>();
    let argument = core::ptr::from_ref(plan).expose_provenance();
    // SAFETY: the stack is free, since with CLONE_VFORK the call returns only when the child has left our
    // memory; until then `plan` and `process` live in this suspended frame and its caller's.
    let answer = unsafe {
        arch::clone_with_stack(
            CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
            top,
            &raw mut process,
            become_command,
            argument,
        )
    };
    if answer < 0 {
        return Err(Errno(-answer as i32));
    }
    Ok(Child {
        pid: answer as i32,
        process: Fd::new(process),
    })
}

/// The child's whole life as a copy of us.
extern "C" fn become_command(plan: usize) -> ! {
    // SAFETY: `spawn` passed the address of a plan that outlives our time in this memory.
    let plan = unsafe { &*core::ptr::with_exposed_provenance::<Plan>(plan) };
    // Failure to be bound to the parent's life is no reason not to run: the parent ends us in all other ways.
    let _ = sys::die_with_parent();
    if sys::parent_pid() != plan.parent {
        // The parent was killed before it could bind us.
        sys::exit(127);
    }
    // A group of its own, so that a command which signals "its" group reaches neither us nor `underhood`.
    let _ = sys::own_group();
    let (stage, errno) = match prepare(plan) {
        Err(failure) => failure,
        Ok(()) => {
            // The suspended parent may still stand in this processor's queue (delayed dequeue, since Linux 6.12): exec would
            // take the processor for shared and move the command to another, which must be woken first (60 us in a
            // virtual machine), in some runs and not in others. To give way takes the parent off the queue.
            let books = account::open_own_schedule();
            sys::give_way();
            // After giving way, which brings the books up to date.
            if let Some(books) = &books {
                for (kept, value) in plan.before.iter().zip(account::read_schedule(books)) {
                    kept.store(value, Relaxed);
                }
            }
            // exec closes it.
            core::mem::forget(books);
            plan.started_ns.store(sys::now(), Relaxed);
            // SAFETY: `spawn`'s caller promised that the addresses are what execve asks for.
            (STAGE_EXEC, unsafe {
                sys::execute(plan.program[0], plan.program[1], plan.program[2])
            })
        }
    };
    plan.errno.store(errno.0, Relaxed);
    plan.failed_stage.store(stage, Relaxed);
    sys::exit(127)
}

fn prepare(plan: &Plan) -> Result<(), (u64, Errno)> {
    sys::enter_directory(plan.directory).map_err(|errno| (STAGE_DIRECTORY, errno))?;
    for (to, &from) in plan.streams.iter().enumerate() {
        sys::duplicate(from, to as i32).map_err(|errno| (STAGE_STREAMS, errno))?;
    }
    Ok(())
}

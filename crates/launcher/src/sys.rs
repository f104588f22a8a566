//! The system calls that the launcher makes, with types in place of registers.
//!
//! Everything above this file is safe Rust. A descriptor is owned and closed by its value; memory that the
//! kernel fills is a slice or an array; an error is an [`Errno`].
#![expect(unsafe_code, reason = "the one place where arguments become registers")]

use crate::arch::{nr, signal_return, syscall};

/// An error number as the kernel gives it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    pub const EINTR: Self = Self(4);
    pub const ENOMEM: Self = Self(12);
    pub const EINVAL: Self = Self(22);
}

pub type Result<T> = core::result::Result<T, Errno>;

pub const SIGKILL: i32 = 9;
pub const SIGTERM: i32 = 15;
pub const SIGCONT: i32 = 18;
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const LAST_SIGNAL: i32 = 64;

pub const POLLIN: i16 = 0x1;
pub const POLLRDHUP: i16 = 0x2000;

const O_RDONLY: usize = 0;
const O_RDWR: usize = 2;
const O_CLOEXEC: usize = 0o2_000_000;
const AT_FDCWD: usize = -100_isize as usize;

fn check(answer: isize) -> Result<usize> {
    if (-4095..0).contains(&answer) {
        Err(Errno(-answer as i32))
    } else {
        Ok(answer as usize)
    }
}

/// A system call whose arguments are numbers only, so that it cannot touch our memory.
fn call(number: usize, args: [usize; 6]) -> Result<usize> {
    // SAFETY: private to this file, where each caller passes no pointer, or one made from a live reference
    // of at least the size that the call reads or writes; none of them unmaps memory or makes a process.
    check(unsafe { syscall(number, args) })
}

/// An open descriptor; closed when dropped.
pub struct Fd(i32);

impl Fd {
    /// Takes over a descriptor that the kernel gave us.
    pub const fn new(number: i32) -> Self {
        Self(number)
    }

    pub const fn number(&self) -> i32 {
        self.0
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // Nothing can be done about a failing close, and the kernel frees the number in any case.
        let _ = call(nr::CLOSE, [self.0 as usize, 0, 0, 0, 0, 0]);
    }
}

/// Opens for reading; `path` ends with a zero byte.
pub fn open(path: &[u8]) -> Result<Fd> {
    open_with(path, O_RDONLY | O_CLOEXEC)
}

fn open_with(path: &[u8], flags: usize) -> Result<Fd> {
    if path.last() != Some(&0) {
        return Err(Errno::EINVAL);
    }
    call(nr::OPENAT, [AT_FDCWD, path.as_ptr().addr(), flags, 0, 0, 0]).map(|fd| Fd(fd as i32))
}

/// Reads once; 0 is the end.
pub fn read(fd: i32, into: &mut [u8]) -> Result<usize> {
    call(
        nr::READ,
        [fd as usize, into.as_mut_ptr().addr(), into.len(), 0, 0, 0],
    )
}

/// Reads directory entries (`struct linux_dirent64`); 0 is the end.
pub fn read_directory(fd: &Fd, into: &mut [u8]) -> Result<usize> {
    call(
        nr::GETDENTS64,
        [fd.0 as usize, into.as_mut_ptr().addr(), into.len(), 0, 0, 0],
    )
}

/// Writes the value 5 to /proc/self/clear_refs: our peak resident size starts anew at what is resident now.
pub fn reset_own_peak() {
    if let Ok(fd) = open_with(b"/proc/self/clear_refs\0", O_RDWR | O_CLOEXEC) {
        let _ = call(nr::WRITE, [fd.0 as usize, b"5".as_ptr().addr(), 1, 0, 0, 0]);
    }
}

/// Sends bytes over a socket; how many went.
pub fn send(socket: i32, bytes: &[u8]) -> Result<usize> {
    const MSG_NOSIGNAL: usize = 0x4000;
    call(
        nr::SENDTO,
        [
            socket as usize,
            bytes.as_ptr().addr(),
            bytes.len(),
            MSG_NOSIGNAL,
            0,
            0,
        ],
    )
}

/// Receives bytes, and descriptors into `fds` (close on exec); (bytes, descriptors).
pub fn receive<const N: usize>(
    socket: i32,
    into: &mut [u8],
    fds: &mut [Option<Fd>; N],
) -> Result<(usize, usize)> {
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    const SOL_SOCKET_SCM_RIGHTS: u64 = 1 | (1 << 32);
    const HEADER: usize = 16;
    // struct cmsghdr is a length and two ints; room for eight descriptors follows it.
    let mut control = [0_u64; 2 + 4];
    let vector = [into.as_mut_ptr().addr(), into.len()];
    // struct msghdr: name, its length, vector, its length, control, its length, flags.
    let mut message = [
        0,
        0,
        vector.as_ptr().addr(),
        1,
        control.as_mut_ptr().addr(),
        size_of_val(&control),
        0_usize,
    ];
    let bytes = call(
        nr::RECVMSG,
        [
            socket as usize,
            message.as_mut_ptr().addr(),
            MSG_CMSG_CLOEXEC,
            0,
            0,
            0,
        ],
    )?;
    let mut count = 0;
    if message[5] >= HEADER && control[1] == SOL_SOCKET_SCM_RIGHTS {
        let numbers = (control[0] as usize)
            .min(size_of_val(&control))
            .saturating_sub(HEADER)
            / 4;
        for i in 0..numbers {
            // Two descriptors of 32 bits lie in each word, in memory order.
            let word = control[2 + i / 2].to_ne_bytes();
            let half = &word[4 * (i % 2)..4 * (i % 2) + 4];
            let fd = Fd(i32::from_ne_bytes([half[0], half[1], half[2], half[3]]));
            // One too many is closed at once.
            if let Some(slot) = fds.get_mut(i) {
                *slot = Some(fd);
                count += 1;
            }
        }
    }
    Ok((bytes, count))
}

/// `struct pollfd`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Poll {
    /// The descriptor; a negative one is skipped.
    pub fd: i32,
    pub events: i16,
    pub got: i16,
}

impl Poll {
    pub const fn new(fd: i32, events: i16) -> Self {
        Self { fd, events, got: 0 }
    }
}

/// Waits until something happens on one of `polls` or `timeout_ns` is over; how many have something.
pub fn poll(polls: &mut [Poll], timeout_ns: u64) -> Result<usize> {
    let time = [timeout_ns / 1_000_000_000, timeout_ns % 1_000_000_000];
    call(
        nr::PPOLL,
        [
            polls.as_mut_ptr().addr(),
            polls.len(),
            time.as_ptr().addr(),
            0,
            8,
            0,
        ],
    )
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn now() -> u64 {
    const CLOCK_MONOTONIC: usize = 1;
    let mut time = [0_u64; 2];
    // It cannot fail: the clock exists on every kernel that has the other calls.
    let _ = call(
        nr::CLOCK_GETTIME,
        [CLOCK_MONOTONIC, time.as_mut_ptr().addr(), 0, 0, 0, 0],
    );
    time[0] * 1_000_000_000 + time[1]
}

/// Lets whatever else wants this processor have it.
pub fn give_way() {
    let _ = call(nr::SCHED_YIELD, [0; 6]);
}

/// `struct rusage`: what `wait4` tells.
#[derive(Default)]
pub struct Rusage([u64; 18]);

impl Rusage {
    pub const fn user_us(&self) -> u64 {
        self.0[0] * 1_000_000 + self.0[1]
    }
    pub const fn system_us(&self) -> u64 {
        self.0[2] * 1_000_000 + self.0[3]
    }
    pub const fn peak_rss_bytes(&self) -> u64 {
        self.0[4] * 1024
    }
    pub const fn minor_faults(&self) -> u64 {
        self.0[8]
    }
    pub const fn major_faults(&self) -> u64 {
        self.0[9]
    }
    pub const fn voluntary(&self) -> u64 {
        self.0[16]
    }
    pub const fn involuntary(&self) -> u64 {
        self.0[17]
    }
}

const WNOHANG: usize = 1;
const WEXITED: usize = 4;
const WNOWAIT: usize = 0x0100_0000;
const WALL: usize = 0x4000_0000;

/// Looks for a child that is gone and not yet reaped, without reaping it. `Ok(None)`: children, none gone.
///
/// # Errors
/// ECHILD: there are no children at all.
pub fn peek_zombie() -> Result<Option<i32>> {
    const P_ALL: usize = 0;
    const PID: usize = 4;
    // siginfo_t is 128 bytes; the pid is its fifth int.
    let mut info = [0_i32; 32];
    let options = WEXITED | WNOHANG | WNOWAIT | WALL;
    call(nr::WAITID, [P_ALL, 0, info.as_mut_ptr().addr(), options, 0, 0])?;
    Ok((info[PID] != 0).then_some(info[PID]))
}

/// Reaps exactly this child, which must be gone or about to go: status word and usage.
pub fn reap(pid: i32) -> Result<(u32, Rusage)> {
    let mut status = [0_u32; 2];
    let mut usage = Rusage::default();
    let args = [
        pid as usize,
        status.as_mut_ptr().addr(),
        WALL,
        usage.0.as_mut_ptr().addr(),
        0,
        0,
    ];
    loop {
        match call(nr::WAIT4, args) {
            Err(Errno::EINTR) => {}
            answer => return answer.map(|_| (status[0], usage)),
        }
    }
}

pub fn pid() -> i32 {
    call(nr::GETPID, [0; 6]).unwrap_or(0) as i32
}

/// A descriptor for a process, with which a signal can never reach another one that inherited its number.
pub fn open_process(pid: i32) -> Result<Fd> {
    call(nr::PIDFD_OPEN, [pid as usize, 0, 0, 0, 0, 0]).map(|fd| Fd(fd as i32))
}

/// Sends a signal to the process.
pub fn signal_process(process: &Fd, signal: i32) -> Result<()> {
    call(
        nr::PIDFD_SEND_SIGNAL,
        [process.0 as usize, signal as usize, 0, 0, 0, 0],
    )
    .map(drop)
}

/// Our CPU mask as the kernel keeps it; how many bytes of `mask` it filled.
pub fn affinity(mask: &mut [u8]) -> Result<usize> {
    call(
        nr::SCHED_GETAFFINITY,
        [0, mask.len(), mask.as_mut_ptr().addr(), 0, 0, 0],
    )
}

/// Sets our CPU mask, which children inherit.
pub fn set_affinity(mask: &[u8]) -> Result<()> {
    call(
        nr::SCHED_SETAFFINITY,
        [0, mask.len(), mask.as_ptr().addr(), 0, 0, 0],
    )
    .map(drop)
}

/// Orphaned descendants become our children; false where the kernel cannot.
pub fn adopt_orphans() -> bool {
    const PR_SET_CHILD_SUBREAPER: usize = 36;
    call(nr::PRCTL, [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0]).is_ok()
}

/// Asks for SIGKILL when the process that made us ends.
pub fn die_with_parent() -> Result<()> {
    const PR_SET_PDEATHSIG: usize = 1;
    call(nr::PRCTL, [PR_SET_PDEATHSIG, SIGKILL as usize, 0, 0, 0, 0]).map(drop)
}

pub fn parent_pid() -> i32 {
    call(nr::GETPPID, [0; 6]).unwrap_or(0) as i32
}

/// A session of our own, without a terminal.
pub fn own_session() {
    // Fails only when we lead a session already, which is what we want.
    let _ = call(nr::SETSID, [0; 6]);
}

/// A process group of our own.
pub fn own_group() -> Result<()> {
    call(nr::SETPGID, [0; 6]).map(drop)
}

pub fn enter_directory(directory: i32) -> Result<()> {
    call(nr::FCHDIR, [directory as usize, 0, 0, 0, 0, 0]).map(drop)
}

/// Makes `to` the same open file as `from`, kept over exec.
pub fn duplicate(from: i32, to: i32) -> Result<()> {
    call(nr::DUP3, [from as usize, to as usize, 0, 0, 0, 0]).map(drop)
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: i32) {
    if call(nr::CLOSE_RANGE, [first as usize, u32::MAX as usize, 0, 0, 0, 0]).is_err() {
        // Before Linux 5.9. A higher number than this is not to be expected at our start.
        for fd in first..1024 {
            let _ = call(nr::CLOSE, [fd as usize, 0, 0, 0, 0, 0]);
        }
    }
}

/// Gives every signal its default meaning, unblocks all, and lets INT, TERM and HUP pass over us.
///
/// Our end is the end of `underhood`, which closes the socket: a terminal's or a service manager's signal
/// to everyone must not keep us from ending what we started. The handler does nothing, and unlike an ignored
/// signal it does not outlive an exec: commands start with all signals at their default.
pub fn reset_signals() {
    const SIG_DFL: usize = 0;
    const SIG_SETMASK: usize = 2;
    const SA_RESTORER: usize = 0x0400_0000;
    const SA_RESTART: usize = 0x1000_0000;
    extern "C" fn pass(_signal: i32) {}
    for signal in 1..=LAST_SIGNAL {
        let handler = if matches!(signal, SIGHUP | SIGINT | SIGTERM) {
            pass as *const () as usize
        } else {
            SIG_DFL
        };
        // struct sigaction of the kernel: handler, flags, restorer, mask.
        let action = [
            handler,
            SA_RESTORER | SA_RESTART,
            signal_return as *const () as usize,
            0,
        ];
        // KILL and STOP refuse, as they should.
        let _ = call(
            nr::RT_SIGACTION,
            [signal as usize, action.as_ptr().addr(), 0, 8, 0, 0],
        );
    }
    let none = [0_u64];
    let _ = call(
        nr::RT_SIGPROCMASK,
        [SIG_SETMASK, none.as_ptr().addr(), 0, 8, 0, 0],
    );
}

pub fn exit(code: i32) -> ! {
    loop {
        let _ = call(nr::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]);
    }
}

/// Replaces this process by a program. Returns only when that failed.
///
/// # Safety
/// `path` must point to a string ended by zero; `argv` and `envp` to arrays of such pointers ended by null.
pub unsafe fn execute(path: usize, argv: usize, envp: usize) -> Errno {
    // SAFETY: the caller's promise is what execve asks for.
    match check(unsafe { syscall(nr::EXECVE, [path, argv, envp, 0, 0, 0]) }) {
        Err(errno) => errno,
        Ok(_) => Errno::EINVAL,
    }
}

/// Zeroed memory from the kernel, in words; given back when dropped.
pub struct Memory {
    start: *mut u64,
    words: usize,
}

impl Memory {
    pub const fn none() -> Self {
        Self {
            start: core::ptr::dangling_mut(),
            words: 0,
        }
    }

    /// At least `bytes` of memory.
    pub fn map(bytes: usize) -> Result<Self> {
        const PROT_READ_WRITE: usize = 3;
        const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
        let bytes = bytes.max(1).next_multiple_of(4096);
        let start = call(
            nr::MMAP,
            [0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, usize::MAX, 0],
        )?;
        Ok(Self {
            start: core::ptr::with_exposed_provenance_mut(start),
            words: bytes / 8,
        })
    }

    pub const fn bytes(&self) -> usize {
        self.words * 8
    }

    pub const fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is ours alone, of this length, and zeroed memory is a valid row of words.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.words) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.words > 0 {
            // SAFETY: no reference into the mapping outlives its owner.
            let _ = unsafe { syscall(nr::MUNMAP, [self.start.addr(), self.bytes(), 0, 0, 0, 0]) };
        }
    }
}

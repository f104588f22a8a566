//! An instruction that stops a traced process, and its removal.
#![expect(unsafe_code, reason = "ptrace is a raw call")]

use std::io;

use super::ptrace::check;

/// What stands at a breakpoint: its bytes and how far behind its beginning the process then stands.
#[cfg(target_arch = "x86_64")]
const INSTRUCTION: (&[u8], u64) = (&[0xcc], 1);
#[cfg(target_arch = "aarch64")]
const INSTRUCTION: (&[u8], u64) = (&0xd420_0000_u32.to_le_bytes(), 0);

/// A breakpoint in the memory of one process, and in that of its copies.
#[derive(Clone, Copy, Debug)]
pub struct Breakpoint {
    address: u64,
    /// The aligned word around the address, as it was: no such word crosses the end of a mapping.
    word: u64,
}

/// Bytes of a word.
const WORD: u64 = 8;

impl Breakpoint {
    /// Plants one in a stopped process.
    ///
    /// # Errors
    /// When there is no code at the address.
    pub fn plant(process: i32, address: u64) -> io::Result<Self> {
        let word = read(process, address - address % WORD)?;
        let mut bytes = word.to_ne_bytes();
        let places = bytes.iter_mut().skip((address % WORD) as usize);
        for (place, byte) in places.zip(INSTRUCTION.0) {
            *place = *byte;
        }
        write(process, address - address % WORD, u64::from_ne_bytes(bytes))?;
        Ok(Self { address, word })
    }

    /// Puts it back into a process from which it was removed.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn again(self, process: i32) -> io::Result<()> {
        Self::plant(process, self.address).map(|_| ())
    }

    /// Whether the process, stopped by a trap, stopped here.
    pub fn is_here(self, process: i32) -> bool {
        counter(process).is_ok_and(|counter| counter == self.address + INSTRUCTION.1)
    }

    /// Takes it out of a process or of a copy of it.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn remove(self, process: i32) -> io::Result<()> {
        write(process, self.address - self.address % WORD, self.word)
    }

    /// Lets a process that stopped here, and from which it was removed, go on with the instruction that stood here.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn step_back(self, process: i32) -> io::Result<()> {
        if INSTRUCTION.1 == 0 {
            return Ok(());
        }
        set_counter(process, self.address)
    }
}

/// Whether a stopped process will go on with the instruction at this address.
pub fn stands_at(process: i32, address: u64) -> bool {
    counter(process).is_ok_and(|counter| counter == address)
}

/// Where the stack of a stopped process ends.
///
/// # Errors
/// When the process is gone.
pub fn stack_pointer(process: i32) -> io::Result<u64> {
    let registers = registers(process)?;
    #[cfg(target_arch = "x86_64")]
    let pointer = registers.rsp;
    #[cfg(target_arch = "aarch64")]
    let pointer = registers.sp;
    Ok(pointer)
}

fn read(process: i32, address: u64) -> io::Result<u64> {
    let mut word = 0_u64;
    // The raw call stores the word; the C library's wrapper would return it, mixed with errors.
    // SAFETY: `word` is ours to be written; the address is one of the other process and checked by the kernel.
    check(unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            libc::PTRACE_PEEKTEXT,
            process,
            address,
            &raw mut word,
        )
    })?;
    Ok(word)
}

fn write(process: i32, address: u64, word: u64) -> io::Result<()> {
    // SAFETY: as for reading; the word is passed by value.
    check(unsafe { libc::ptrace(libc::PTRACE_POKETEXT, process, address, word) })
}

/// The registers, with the number of their set (ptrace(2), PTRACE_GETREGSET).
fn registers(process: i32) -> io::Result<libc::user_regs_struct> {
    // SAFETY: zero is a valid value of every register.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let mut place = libc::iovec {
        iov_base: (&raw mut registers).cast(),
        iov_len: size_of_val(&registers),
    };
    // SAFETY: the place describes `registers`, which is ours to be written.
    check(unsafe { libc::ptrace(libc::PTRACE_GETREGSET, process, libc::NT_PRSTATUS, &raw mut place) })?;
    Ok(registers)
}

#[cfg(target_arch = "x86_64")]
fn counter(process: i32) -> io::Result<u64> {
    registers(process).map(|registers| registers.rip)
}

#[cfg(target_arch = "aarch64")]
fn counter(process: i32) -> io::Result<u64> {
    registers(process).map(|registers| registers.pc)
}

fn set_counter(process: i32, address: u64) -> io::Result<()> {
    let mut registers = registers(process)?;
    #[cfg(target_arch = "x86_64")]
    {
        registers.rip = address;
    }
    #[cfg(target_arch = "aarch64")]
    {
        registers.pc = address;
    }
    let mut place = libc::iovec {
        iov_base: (&raw mut registers).cast(),
        iov_len: size_of_val(&registers),
    };
    // SAFETY: the place describes `registers`.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGSET, process, libc::NT_PRSTATUS, &raw mut place) })
}

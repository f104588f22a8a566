//! Receives requests and lays them out as execve wants them.
//!
//! The arguments and the environment of a command may be megabytes. They are read straight from the socket
//! into one piece of memory that is kept from run to run, with the two vectors of pointers behind the text.
//! What a large request took is given back afterwards and our peak reset, because it would stand as the floor
//! under the peak of every later command.

use crate::protocol::{
    KIND_FAILED, MAGIC, MAX_BLOCK, OP_CANCEL, OP_RUN, RUN_DESCRIPTORS, Reply, Request, STAGE_REQUEST,
};
use crate::sys::{self, Errno, Fd, Memory};

/// Memory for requests up to this size is kept.
const KEEP_BYTES: usize = 64 << 10;

/// What came.
pub enum Incoming<'a> {
    /// Run this.
    Run(RunRequest<'a>),
    /// End what runs.
    Cancel,
    /// A request that cannot be served, with what to answer.
    Refused(Reply),
    /// Nobody is there any more, or speaks another language.
    Hangup,
}

/// A command to run, ready for execve.
pub struct RunRequest<'a> {
    /// Limits as the sender wrote them.
    pub header: Request,
    /// CPU mask; empty for the one that the launcher was started with.
    pub mask: &'a [u8],
    /// Addresses of the path, of the argument vector and of the environment vector.
    pub program: [usize; 3],
    /// Standard input, output, error, working directory.
    pub descriptors: [Fd; RUN_DESCRIPTORS],
}

/// Where requests are received.
pub struct Inbox {
    memory: Memory,
}

impl Inbox {
    pub const fn new() -> Self {
        Self {
            memory: Memory::none(),
        }
    }

    /// Gives back what a large request needed.
    pub fn shrink(&mut self) {
        if self.memory.bytes() > KEEP_BYTES {
            self.memory = Memory::none();
            sys::reset_own_peak();
        }
    }

    /// Waits for the next request.
    pub fn next(&mut self, socket: i32) -> Incoming<'_> {
        let mut descriptors = [const { None }; RUN_DESCRIPTORS];
        let Some(header) = receive_header(socket, &mut descriptors) else {
            return Incoming::Hangup;
        };
        if header.op == OP_CANCEL {
            return Incoming::Cancel;
        }
        let [Some(stdin), Some(stdout), Some(stderr), Some(directory)] = descriptors else {
            return Incoming::Hangup;
        };
        if header.op != OP_RUN || header.block_bytes > MAX_BLOCK {
            return Incoming::Hangup;
        }
        // Text rounded up to a word, then argc + 1 and envc + 1 pointers. A string takes at least one byte, so
        // no count can be larger than the block.
        let text_words = (header.block_bytes as usize).div_ceil(8);
        if header.argc > header.block_bytes || header.envc > header.block_bytes {
            return Incoming::Hangup;
        }
        let words = text_words + header.argc as usize + header.envc as usize + 2;
        if self.memory.bytes() < words * 8 {
            self.memory = Memory::none();
            match Memory::map(words * 8) {
                Ok(memory) => self.memory = memory,
                // The block stays in the socket: the next message could not be told from it.
                Err(_) => return drain(socket, header.block_bytes),
            }
        }
        let (text, vectors) = self.memory.words().split_at_mut(text_words);
        let text = as_bytes(text);
        let Some(block) = text.get_mut(..header.block_bytes as usize) else {
            return Incoming::Hangup;
        };
        if !read_exactly(socket, block) {
            return Incoming::Hangup;
        }
        match lay_out(&header, block, vectors) {
            Some((mask, program)) => Incoming::Run(RunRequest {
                header,
                mask,
                program,
                descriptors: [stdin, stdout, stderr, directory],
            }),
            None => refuse(Errno::EINVAL),
        }
    }
}

fn refuse<'a>(errno: Errno) -> Incoming<'a> {
    Incoming::Refused(Reply {
        kind: KIND_FAILED,
        stage: STAGE_REQUEST,
        errno: errno.0 as u64,
        ..Reply::default()
    })
}

/// Reads and forgets the block of a request that there is no memory for.
fn drain<'a>(socket: i32, bytes: u64) -> Incoming<'a> {
    let mut left = bytes as usize;
    let mut sink = [0; 1024];
    while left > 0 {
        let length = left.min(sink.len());
        if !read_exactly(socket, &mut sink[..length]) {
            return Incoming::Hangup;
        }
        left -= length;
    }
    refuse(Errno::ENOMEM)
}

/// Fills `vectors` with the addresses of the strings in `block`; None when the block is not as announced.
fn lay_out<'a>(header: &Request, block: &'a [u8], vectors: &mut [u64]) -> Option<(&'a [u8], [usize; 3])> {
    let (mask, mut text) = block.split_at_checked(usize::try_from(header.mask_bytes).ok()?)?;
    let path = take_string(&mut text)?;
    let (argv, envp) = vectors.split_at_mut_checked(header.argc as usize + 1)?;
    for (vector, count) in [(&mut *argv, header.argc), (&mut *envp, header.envc)] {
        let (last, strings) = vector.get_mut(..=count as usize)?.split_last_mut()?;
        for string in strings {
            *string = take_string(&mut text)? as u64;
        }
        *last = 0;
    }
    let addresses = [
        path,
        argv.as_ptr().expose_provenance(),
        envp.as_ptr().expose_provenance(),
    ];
    text.is_empty().then_some((mask, addresses))
}

/// The address of the string that `text` starts with, whose zero byte is inside; `text` goes on behind it.
fn take_string(text: &mut &[u8]) -> Option<usize> {
    let start = text.as_ptr().expose_provenance();
    let end = text.iter().position(|&byte| byte == 0)?;
    *text = text.get(end + 1..)?;
    Some(start)
}

/// Receives one header, with the descriptors that came along.
///
/// None: nobody is there any more, or speaks another language.
pub fn receive_header(socket: i32, descriptors: &mut [Option<Fd>; RUN_DESCRIPTORS]) -> Option<Request> {
    let mut bytes = [0; Request::BYTES];
    let first = loop {
        match sys::receive(socket, &mut bytes, descriptors) {
            Ok((count, _)) => break count,
            Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    };
    if first == 0 || !read_exactly(socket, bytes.get_mut(first..)?) {
        return None;
    }
    Some(Request::from_bytes(&bytes)).filter(|request| request.magic == MAGIC)
}

fn read_exactly(socket: i32, mut into: &mut [u8]) -> bool {
    while !into.is_empty() {
        match sys::read(socket, into) {
            Ok(0) => return false,
            Ok(count) => match into.get_mut(count..) {
                Some(rest) => into = rest,
                None => return false,
            },
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// The bytes of a row of words.
#[expect(unsafe_code, reason = "core has no safe view of words as bytes")]
const fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same memory, eight bytes a word; every byte pattern is valid for both, and bytes need no
    // alignment.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}

//! Our end of the socket to the launcher.
#![expect(
    unsafe_code,
    reason = "descriptors travel in control messages, which the standard library cannot send yet"
)]

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::protocol::{Hello, RUN_DESCRIPTORS, Reply};
use crate::signal;

/// A connected launcher.
pub struct Socket {
    stream: UnixStream,
}

/// A control message that carries descriptors (cmsg(3)): the data follow the header without a gap, because four
/// descriptors keep its alignment.
#[repr(C)]
struct Rights {
    header: libc::cmsghdr,
    descriptors: [RawFd; RUN_DESCRIPTORS],
}

/// What ended a wait.
pub enum Woken {
    /// The launcher has something to say.
    Readable,
    /// We were interrupted.
    Interrupted,
}

impl Socket {
    /// A socket, and the end that the launcher is to have as its standard input.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self { stream: ours }, theirs.into()))
    }

    /// The number of the descriptor, for the signal handler.
    pub fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Waits for the launcher's first words, `limit` at most.
    pub fn hello(&mut self, limit: Duration) -> io::Result<Hello> {
        self.stream.set_read_timeout(Some(limit))?;
        let mut bytes = [0; Hello::BYTES];
        self.stream.read_exact(&mut bytes)?;
        self.stream.set_read_timeout(None)?;
        Ok(Hello::from_bytes(&bytes))
    }

    /// Reads a reply.
    pub fn reply(&mut self) -> io::Result<Reply> {
        let mut bytes = [0; Reply::BYTES];
        self.stream.read_exact(&mut bytes)?;
        Ok(Reply::from_bytes(&bytes))
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends `bytes` with descriptors attached to the first of them.
    pub fn send_with(&mut self, bytes: &[u8], descriptors: &[OwnedFd; RUN_DESCRIPTORS]) -> io::Result<()> {
        // SAFETY: zero is a valid value of every field of this C structure.
        let mut header: libc::cmsghdr = unsafe { std::mem::zeroed() };
        header.cmsg_level = libc::SOL_SOCKET;
        header.cmsg_type = libc::SCM_RIGHTS;
        header.cmsg_len = size_of::<Rights>() as _;
        let mut rights = Rights {
            header,
            descriptors: descriptors.each_ref().map(AsRawFd::as_raw_fd),
        };
        let mut vector = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: zero is a valid value of every field of this C structure.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut rights).cast();
        message.msg_controllen = size_of::<Rights>() as _;
        let sent = loop {
            // SAFETY: all that `message` points to is alive; sendmsg only reads it.
            let sent =
                unsafe { libc::sendmsg(self.stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
            if let Ok(sent) = usize::try_from(sent) {
                break sent;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        };
        // The descriptors went with the first byte; a long message may be taken in pieces.
        self.send(&bytes[sent..])
    }

    /// Waits until the launcher says something or we are interrupted.
    pub fn wait(&self) -> io::Result<Woken> {
        let mut polls = [
            libc::pollfd {
                fd: self.stream.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            },
            // Without a handler installed the number is negative, which poll skips.
            libc::pollfd {
                fd: signal::wake_descriptor(),
                events: libc::POLLIN,
                revents: 0,
            },
        ];
        loop {
            // SAFETY: the array is alive and its length is the one given.
            let answer = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, -1) };
            if polls[0].revents != 0 {
                return Ok(Woken::Readable);
            }
            if polls[1].revents != 0 {
                return Ok(Woken::Interrupted);
            }
            if answer < 0 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

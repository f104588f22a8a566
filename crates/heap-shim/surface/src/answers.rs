//! Questions about the heap, answered for the heap in use.
//!
//! A program (or a monitoring library inside it) that asks glibc's `mallinfo` while another heap serves it reads
//! the figures of an empty heap and draws conclusions. These functions report what the heap in use knows; a field
//! that has no meaning there is 0.

use core::ffi::CStr;
use core::ffi::c_char;
use core::ffi::c_int;
use core::ffi::c_void;
use core::fmt;
use core::fmt::Write;

use crate::Usage;
use crate::errno;

/// `struct mallinfo2`, mallinfo(3), in bytes and counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mallinfo2 {
    /// Memory from the system that is not in `hblkhd`.
    pub arena: usize,
    /// Free chunks.
    pub ordblks: usize,
    /// Free fastbin chunks.
    pub smblks: usize,
    /// Blocks that are mappings of their own.
    pub hblks: usize,
    /// Their memory.
    pub hblkhd: usize,
    /// Unused, always 0.
    pub usmblks: usize,
    /// Memory in free fastbin chunks.
    pub fsmblks: usize,
    /// Memory in blocks that the program holds.
    pub uordblks: usize,
    /// Memory in free blocks.
    pub fordblks: usize,
    /// Memory that a trim could release.
    pub keepcost: usize,
}

/// `struct mallinfo`: the same ten fields as `int`, which overflow above 2 GiB. Here they stop at the largest value
/// instead of wrapping.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mallinfo {
    /// The fields of [`Mallinfo2`], in its order.
    pub fields: [c_int; 10],
}

impl From<Mallinfo2> for Mallinfo {
    fn from(wide: Mallinfo2) -> Self {
        let fields = [
            wide.arena,
            wide.ordblks,
            wide.smblks,
            wide.hblks,
            wide.hblkhd,
            wide.usmblks,
            wide.fsmblks,
            wide.uordblks,
            wide.fordblks,
            wide.keepcost,
        ];
        Self {
            fields: fields.map(|field| c_int::try_from(field).unwrap_or(c_int::MAX)),
        }
    }
}

/// The fields that follow from a heap's [`Usage`].
pub fn mallinfo2_of(usage: Usage) -> Mallinfo2 {
    let in_use = usage.in_use.unwrap_or(0);
    Mallinfo2 {
        arena: usage.mapped,
        uordblks: in_use,
        fordblks: usage
            .in_use
            .map_or(0, |in_use| usage.mapped.saturating_sub(in_use)),
        ..Mallinfo2::default()
    }
}

/// Text that is built without a heap and ends with a zero byte. What does not fit is cut off.
struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self {
            bytes: [0; 512],
            length: 0,
        }
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let space = self.bytes.len() - 1 - self.length;
        let taken = text.len().min(space);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

unsafe extern "C" {
    fn write(descriptor: c_int, bytes: *const c_void, length: usize) -> isize;
    fn fputs(text: *const c_char, stream: *mut c_void) -> c_int;
}

fn write_figure(text: &mut Text, before: &str, figure: Option<usize>, after: &str) {
    // A full text is cut off; the buffer is sized so that none is.
    let _cut = match figure {
        Some(bytes) => write!(text, "{before}{bytes}{after}"),
        None => write!(text, "{before}unknown{after}"),
    };
}

/// Answers `malloc_stats`: three lines on standard error, where glibc prints its own. The only text that a shim
/// ever writes there, and only because the program asked.
pub fn print_stats(name: &CStr, usage: Usage) {
    let mut text = Text::new();
    let _cut = writeln!(
        text,
        "heap                = {}",
        name.to_str().unwrap_or_default()
    );
    write_figure(&mut text, "system bytes        = ", Some(usage.mapped), "\n");
    write_figure(&mut text, "in use bytes        = ", usage.in_use, "\n");
    // SAFETY: the pointer and the length describe the text.
    let _written = unsafe { write(2, text.bytes.as_ptr().cast(), text.length) };
}

/// Answers `malloc_info`: a small XML document in the frame that glibc's has. -1 and `EINVAL` when `options` is
/// not 0, -1 when the stream fails.
///
/// # Safety
/// `stream` is a valid `FILE *`.
pub unsafe fn print_info(name: &CStr, usage: Usage, options: c_int, stream: *mut c_void) -> c_int {
    if options != 0 {
        errno::set(errno::EINVAL);
        return -1;
    }
    let mut text = Text::new();
    let _cut = writeln!(
        text,
        "<malloc version=\"1\" heap=\"{}\">",
        name.to_str().unwrap_or_default()
    );
    write_figure(
        &mut text,
        "<system type=\"current\" size=\"",
        Some(usage.mapped),
        "\"/>\n",
    );
    write_figure(
        &mut text,
        "<total type=\"in-use\" size=\"",
        usage.in_use,
        "\"/>\n</malloc>\n",
    );
    // SAFETY: the text ends with a zero byte; the stream is the caller's obligation.
    let written = unsafe { fputs(text.as_c_str().as_ptr(), stream) };
    if written < 0 { -1 } else { 0 }
}

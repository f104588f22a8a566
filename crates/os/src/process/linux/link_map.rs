//! Finds the dynamic loader's notes for debuggers in a traced process, and reads them.
//!
//! The program's dynamic table has a cell (`DT_DEBUG`) in which the loader leaves the address of its `struct r_debug` before
//! it loads anything. There stand the list of what is loaded, the state of that list, and the address of an empty
//! function that the loader calls when the state has changed (`<link.h>`; glibc, `elf/rtld.c`, `dl_main`). So it does not matter
//! which file the loader is or who mapped it: a program whose interpreter is not the loader but brings it along
//! is read in the same way.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::super::LinkedObject;
use super::inspect;

/// As many objects are listed; a loop in a damaged list ends there.
const MAX_OBJECTS: usize = 1 << 16;
/// As long is a name at most (`PATH_MAX`).
const MAX_NAME: usize = 4096;

/// The list is complete and everything in it is relocated (`RT_CONSISTENT`).
pub const CONSISTENT: u32 = 0;

/// The notes, `struct r_debug`.
#[derive(Clone, Copy, Debug)]
pub struct Notes {
    /// The first object of the list.
    first: u64,
    /// The empty function.
    pub function: u64,
    /// What happens to the list.
    pub state: u32,
}

/// The memory of a traced process, and where the loader's notes will be found in it.
#[derive(Debug)]
pub struct LinkMap {
    /// /proc/PID/mem.
    memory: File,
    /// The address of the value of `DT_DEBUG`.
    cell: u64,
}

impl LinkMap {
    /// Of a process that stands at the beginning of a program.
    ///
    /// # Errors
    /// When the program has no such cell, or its memory cannot be read.
    pub fn find(process: i32) -> io::Result<Self> {
        let memory = File::open(format!("/proc/{process}/mem"))?;
        let told = |kind| {
            inspect::auxiliary(process, kind).ok_or_else(|| io::Error::other("the kernel tells nothing"))
        };
        let (headers, count) = (told(inspect::AT_PHDR)?, told(inspect::AT_PHNUM)?);
        let exe = File::open(format!("/proc/{process}/exe"))?;
        let bias = told(inspect::AT_ENTRY)?.wrapping_sub(inspect::linked_entry(&exe)?);
        let cell = cell(&memory, bias, headers, count)?
            .ok_or_else(|| io::Error::other("it has no place for the loader's notes (DT_DEBUG)"))?;
        Ok(Self { memory, cell })
    }

    /// The notes; `None` as long as there are none.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn notes(&self) -> io::Result<Option<Notes>> {
        let [address] = self.words(self.cell)?;
        if address == 0 {
            return Ok(None);
        }
        let [_version, first, function, state] = self.words(address)?;
        // The loader may be stopped between its first write to the notes and its last.
        Ok((function != 0).then_some(Notes {
            first,
            function,
            state: state as u32,
        }))
    }

    /// What is loaded, in the loader's order.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn objects(&self, notes: &Notes) -> io::Result<Vec<LinkedObject>> {
        let mut objects = Vec::new();
        let mut next = notes.first;
        while next != 0 && objects.len() < MAX_OBJECTS {
            let [bias, name, dynamic, behind] = self.words(next)?;
            objects.push(LinkedObject {
                name: self.text(name)?,
                bias,
                dynamic,
            });
            next = behind;
        }
        Ok(objects)
    }

    /// The vectors of arguments and environment that begin at an initial stack pointer: number, pointers, null, pointers, null.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn vectors(&self, start: u64) -> io::Result<Range<u64>> {
        let [count] = self.words(start)?;
        let mut at = start.wrapping_add(count.wrapping_add(2).wrapping_mul(8));
        while self.words(at)? != [0] {
            at += 8;
        }
        Ok(start..at + 8)
    }

    /// The memory itself.
    pub fn into_memory(self) -> File {
        self.memory
    }

    fn words<const N: usize>(&self, address: u64) -> io::Result<[u64; N]> {
        words(&self.memory, address)
    }

    fn text(&self, address: u64) -> io::Result<PathBuf> {
        let mut text = Vec::new();
        while address != 0 && text.len() < MAX_NAME {
            let mut byte = [0];
            self.memory
                .read_exact_at(&mut byte, address + text.len() as u64)?;
            if byte == [0] {
                break;
            }
            text.push(byte[0]);
        }
        Ok(OsString::from_vec(text).into())
    }
}

/// The address of the value of `DT_DEBUG`, by the program headers in memory.
fn cell(memory: &File, bias: u64, headers: u64, count: u64) -> io::Result<Option<u64>> {
    const HEADER: u64 = 56;
    const PT_DYNAMIC: u64 = 2;
    const DT_DEBUG: u64 = 21;
    for index in 0..count {
        // Type and flags, offset, address, physical address, size in the file, size in memory.
        let [kind, _, address, _, _, size] = words(memory, headers + index * HEADER)?;
        if kind & u64::from(u32::MAX) != PT_DYNAMIC {
            continue;
        }
        for entry in (0..size / 16).map(|index| bias.wrapping_add(address) + index * 16) {
            match words(memory, entry)? {
                [DT_DEBUG, _] => return Ok(Some(entry + 8)),
                [0, _] => break,
                _ => {}
            }
        }
    }
    Ok(None)
}

fn words<const N: usize>(memory: &File, address: u64) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for (word, at) in words.iter_mut().zip((address..).step_by(8)) {
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, at)?;
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(words)
}

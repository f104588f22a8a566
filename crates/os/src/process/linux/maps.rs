//! The address space of a process, line by line (proc_pid_maps(5)).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::super::MappedRange;

/// Reads it.
///
/// # Errors
/// When the process is gone or somebody else's.
pub fn read(process: i32) -> io::Result<Vec<MappedRange>> {
    let text = fs::read(format!("/proc/{process}/maps"))?;
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            parse(line).ok_or_else(|| io::Error::other("the kernel's list of mappings is not understood"))
        })
        .collect()
}

fn parse(line: &[u8]) -> Option<MappedRange> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut next = || std::str::from_utf8(fields.next()?).ok();
    let (start, end) = next()?.split_once('-')?;
    let access = next()?.as_bytes();
    let offset = next()?;
    let _device = next()?;
    let inode = next()?;
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    Some(MappedRange {
        start: hexadecimal(start)?,
        end: hexadecimal(end)?,
        access: [
            access.first() == Some(&b'r'),
            access.get(1) == Some(&b'w'),
            access.get(2) == Some(&b'x'),
        ],
        offset: hexadecimal(offset)?,
        inode: inode.parse().ok()?,
        // Padded with spaces to a column.
        name: name(fields.next().unwrap_or_default().trim_ascii_start()),
    })
}

/// The kernel writes the end of a line in a name as `\012`, and nothing else in another way.
fn name(mut text: &[u8]) -> PathBuf {
    const END_OF_LINE: &[u8] = b"\\012";
    let mut name = Vec::new();
    while let Some((first, rest)) = text.split_first() {
        match text.strip_prefix(END_OF_LINE) {
            Some(behind) => {
                name.push(b'\n');
                text = behind;
            }
            None => {
                name.push(*first);
                text = rest;
            }
        }
    }
    OsString::from_vec(name).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = b"7f2ca4a00000-7f2ca4a26000 r-xp 0001f000 fe:01 918                       /usr/lib/a b.so";
        let expected = MappedRange {
            start: 0x7f2c_a4a0_0000,
            end: 0x7f2c_a4a2_6000,
            access: [true, false, true],
            offset: 0x1_f000,
            inode: 918,
            name: "/usr/lib/a b.so".into(),
        };
        assert_eq!(parse(line), Some(expected));
        let anonymous = parse(b"1000-2000 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!(anonymous.name.as_os_str(), "");
        let odd = parse(b"1000-2000 rw-p 00000000 00:00 5    /a\\012b").unwrap();
        assert_eq!(odd.name.as_os_str(), "/a\nb");
        assert_eq!(parse(b"1000 rw-p"), None);
    }

    #[test]
    fn our_own_stack_is_there() {
        let here = 0_u8;
        let address = (&raw const here).addr() as u64;
        let ours = read(std::process::id().cast_signed()).unwrap();
        let around = ours
            .iter()
            .find(|range| (range.start..range.end).contains(&address))
            .unwrap();
        assert_eq!(around.access, [true, true, false]);
    }
}

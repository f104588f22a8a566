//! Paths below /proc and the numbers in its files, without formatting machinery or memory of our own.

/// A path such as `/proc/123/task/124/children`, ended by zero.
pub struct ProcPath {
    bytes: [u8; 64],
    length: usize,
}

impl ProcPath {
    /// `/proc/PID/FILE`.
    pub fn of(pid: i32, file: &str) -> Self {
        let mut path = Self {
            bytes: [0; 64],
            length: 0,
        };
        path.text("/proc/").number(pid).text("/").text(file);
        path
    }

    /// `/proc/PID/task/TID/FILE`.
    pub fn of_task(pid: i32, tid: i32, file: &str) -> Self {
        let mut path = Self {
            bytes: [0; 64],
            length: 0,
        };
        path.text("/proc/")
            .number(pid)
            .text("/task/")
            .number(tid)
            .text("/")
            .text(file);
        path
    }

    /// The path with its zero byte.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..=self.length).unwrap_or(b"\0")
    }

    fn text(&mut self, text: &str) -> &mut Self {
        for &byte in text.as_bytes() {
            // The longest path that is asked for has 47 bytes; the last byte stays zero in any case.
            if self.length < self.bytes.len() - 1 {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
        }
        self
    }

    fn number(&mut self, number: i32) -> &mut Self {
        let mut digits = [0_u8; 10];
        let mut rest = number.unsigned_abs();
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 || first == 0 {
                break;
            }
        }
        self.text(core::str::from_utf8(&digits[first..]).unwrap_or_default())
    }
}

/// The decimal numbers of a text, in order; everything else separates.
pub fn numbers(text: &[u8]) -> impl Iterator<Item = u64> {
    text.split(|byte| !byte.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| {
            digits.iter().fold(0_u64, |value, digit| {
                value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
            })
        })
}

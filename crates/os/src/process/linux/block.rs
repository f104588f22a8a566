//! Lays out what the launcher needs to know of a command: see the launcher's `protocol.rs` for the order.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::{LaunchError, Spec};

/// The request's block with the counts that go into its header.
pub struct Block {
    /// CPU mask, path, arguments, environment.
    pub bytes: Vec<u8>,
    /// How many bytes of it are the mask.
    pub mask_bytes: usize,
    /// Arguments, the zeroth included.
    pub argc: usize,
}

impl Block {
    /// Bytes of the arguments and the environment.
    pub const fn text_bytes(&self) -> usize {
        self.bytes.len() - self.mask_bytes
    }
}

/// Writes the block for `spec`, whose program was found at `path`.
pub fn build(spec: &Spec, path: &Path) -> Result<Block, LaunchError> {
    let mut bytes = spec.cpus.as_deref().map(mask).unwrap_or_default();
    let mask_bytes = bytes.len();
    push(&mut bytes, path.as_os_str())?;
    push(&mut bytes, spec.program.as_os_str())?;
    for argument in &spec.args {
        push(&mut bytes, argument)?;
    }
    for (key, value) in &spec.env {
        bytes.extend_from_slice(key.as_bytes());
        bytes.push(b'=');
        push(&mut bytes, value)?;
        if key.as_bytes().contains(&0) {
            return Err(zero_byte(key));
        }
    }
    Ok(Block {
        bytes,
        mask_bytes,
        argc: spec.args.len() + 1,
    })
}

fn push(bytes: &mut Vec<u8>, text: &OsStr) -> Result<(), LaunchError> {
    if text.as_bytes().contains(&0) {
        return Err(zero_byte(text));
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    Ok(())
}

fn zero_byte(text: &OsStr) -> LaunchError {
    LaunchError::Other(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("the text {text:?} contains a zero byte, which no argument or variable can carry; remove it"),
    ))
}

/// One bit a CPU, in bytes of the kernel's words.
fn mask(cpus: &[usize]) -> Vec<u8> {
    /// The most CPUs that Linux can be built for; a larger number is left out, and the kernel refuses the
    /// mask when nothing remains.
    const MAX_CPUS: usize = 8192;
    let cpus = || cpus.iter().copied().filter(|&cpu| cpu < MAX_CPUS);
    let mut mask = vec![0; (cpus().max().unwrap_or(0) / 64 + 1) * 8];
    for cpu in cpus() {
        let word = cpu / 64 * 8;
        let mut value = u64::from_ne_bytes(mask[word..word + 8].try_into().unwrap_or_default());
        value |= 1 << (cpu % 64);
        mask[word..word + 8].copy_from_slice(&value.to_ne_bytes());
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_has_one_bit_a_cpu() {
        assert_eq!(mask(&[0, 3]), 9_u64.to_ne_bytes());
        assert_eq!(mask(&[64]), [0_u64.to_ne_bytes(), 1_u64.to_ne_bytes()].concat());
        assert_eq!(mask(&[]), [0; 8]);
        assert_eq!(mask(&[usize::MAX]), [0; 8]);
    }

    #[test]
    fn strings_follow_in_order_each_with_its_zero() {
        let mut spec = Spec::new("prog").args(["a", ""]);
        spec.env = vec![("K".into(), "v=w".into())];
        let block = build(&spec, Path::new("/bin/prog")).expect("no zero byte is inside");
        assert_eq!(block.bytes, b"/bin/prog\0prog\0a\0\0K=v=w\0");
        assert_eq!((block.mask_bytes, block.argc), (0, 3));
    }

    #[test]
    fn a_zero_byte_is_refused_wherever_it_is() {
        for spec in [Spec::new("p\0"), Spec::new("p").args(["\0"]), {
            let mut spec = Spec::new("p");
            spec.env = vec![("A\0".into(), "b".into())];
            spec
        }] {
            assert!(
                matches!(build(&spec, Path::new("/p")), Err(LaunchError::Other(_))),
                "{spec:?}"
            );
        }
    }
}

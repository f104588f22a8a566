use std::io;
use std::path::Path;

use crate::Unsupported;

const WHY: &str =
    "Windows has no call that puts a single file out of its cache; restart the machine for a cold start";

pub fn support() -> Result<(), Unsupported> {
    Err(Unsupported::new(WHY))
}

pub fn evict(_file: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
}

pub fn resident(_file: &Path) -> io::Result<u64> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
}

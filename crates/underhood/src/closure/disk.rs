//! The file system as the loader sees it.

use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;

use image::elf::search::{File, Files, Opened};

use super::LARGEST;

/// The real one.
pub struct Disk;

const SETUID: u32 = 0o4000;

impl Files for Disk {
    fn open(&self, path: &str) -> Opened {
        let found = std::fs::metadata(path).and_then(|metadata| {
            // What is no file, or larger than any library, is there but no library: the loader gets nothing out of it.
            let bytes = if metadata.is_file() && metadata.len() <= LARGEST {
                std::fs::read(path)?
            } else {
                Vec::new()
            };
            Ok(File {
                identity: os::files::identity(Path::new(path))?,
                bytes: Rc::new(bytes),
                setuid: os::files::attributes(&metadata).mode & SETUID != 0,
            })
        });
        match found {
            Ok(file) => Opened::File(file),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => {
                    Opened::Missing
                }
                _ => Opened::Failed,
            },
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }
}

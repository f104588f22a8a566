//! The file system as the loader sees it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

use image::elf::search::{File, Files, Opened};

pub struct Disk;

impl Files for Disk {
    fn open(&self, path: &str) -> Opened {
        let Ok(meta) = std::fs::metadata(path) else {
            return Opened::Missing;
        };
        match std::fs::read(path) {
            Ok(bytes) => Opened::File(File {
                identity: (meta.dev(), meta.ino()),
                bytes: Rc::new(bytes),
                setuid: meta.mode() & 0o4000 != 0,
            }),
            Err(_) => Opened::Failed,
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }
}

/// The disk as it is seen from another folder.
pub struct Relative(pub std::path::PathBuf);

impl Files for Relative {
    fn open(&self, path: &str) -> Opened {
        Disk.open(&self.0.join(path).to_string_lossy())
    }

    fn is_folder(&self, path: &str) -> bool {
        Disk.is_folder(&self.0.join(path).to_string_lossy())
    }
}

//! All PE files of this machine can be read.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use image::pe::File;

/// Where Debian's packages have libraries for Windows.
const FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/wine",
    "/usr/x86_64-w64-mingw32",
    "/usr/i686-w64-mingw32",
    "/usr/lib/gcc/x86_64-w64-mingw32",
];

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// All files there that begin as programs for Windows or DOS do, in order of their paths.
pub fn pe_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(Path::new(folder), &mut files);
    }
    files.retain(|path| {
        let mut start = [0; 2];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *b"MZ"
    });
    files.sort_unstable();
    files
}

#[test]
fn every_pe_file_of_the_machine_can_be_read() {
    let mut read = 0;
    for path in pe_files() {
        let bytes = std::fs::read(&path).unwrap();
        let shown = path.display();
        let file = match File::read(&bytes) {
            Ok(file) => file,
            // Wine keeps a few libraries of 16 bits.
            Err(image::pe::Unreadable::NotPe) => continue,
            Err(error) => panic!("{shown}: {error}"),
        };
        file.imports().unwrap_or_else(|error| panic!("{shown}: {error}"));
        file.delayed().unwrap_or_else(|error| panic!("{shown}: {error}"));
        file.bound().unwrap_or_else(|error| panic!("{shown}: {error}"));
        file.exports().unwrap_or_else(|error| panic!("{shown}: {error}"));
        file.fixups().unwrap_or_else(|error| panic!("{shown}: {error}"));
        file.tls().unwrap_or_else(|error| panic!("{shown}: {error}"));
        read += 1;
    }
    if read == 0 {
        println!("SKIPPED: no PE files here; on Debian: apt-get install wine mingw-w64");
    }
}

//! All PE files of this machine can be read.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use image::pe::loader::check::check;
use image::pe::loader::{Options, Plan};
use image::pe::{File, bind, rebase};

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

/// A program and a library of Wine with all libraries of Wine beside them: forwarders, ordinals, hints and collisions as they
/// come, as they are and rebased and bound. The judge reads each image anew.
#[test]
fn programs_of_wine_are_loaded_rightly() {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows");
    let mut files = Vec::new();
    for path in pe_files().iter().filter(|path| path.parent() == Some(folder)) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        files.push((name, std::fs::read(path).unwrap()));
    }
    files.retain(|(_, bytes)| File::read(bytes).is_ok_and(|file| file.headers.wide));
    let mut tried = 0;
    for root in [
        "notepad.exe",
        "explorer.exe",
        "regedit.exe",
        "winhttp.dll",
        "ole32.dll",
    ] {
        if !files.iter().any(|(name, _)| name == root) {
            continue;
        }
        let borrowed = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let plan = Plan::new(borrowed, root, Options::default()).unwrap();
        let loaded = plan.load().unwrap_or_else(|error| panic!("{root}: {error}"));
        let checked = check(&plan, &loaded).unwrap();
        assert_eq!(checked.differences, Vec::<String>::new(), "{root}");
        assert_eq!(checked.slots, loaded.counts.written, "{root}");
        let closure: Vec<_> = loaded
            .modules
            .iter()
            .filter_map(|module| files.get(module.file))
            .collect();
        rebase_and_bind(&closure, root);
        tried += 1;
    }
    if tried == 0 {
        println!("SKIPPED: no libraries of Wine here; on Debian: apt-get install wine");
    }
}

/// Rebases a set and binds it: nothing is moved then, nothing looked up, and the judge has nothing to say.
fn rebase_and_bind(files: &[&(String, Vec<u8>)], root: &str) {
    let options = rebase::Options {
        clear_dynamic_base: true,
        stamp: Some(1_000_000_000),
        ..rebase::Options::default()
    };
    let borrowed = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let based = rebase::rebase(borrowed, &options).unwrap_or_else(|error| panic!("{root}: {error}"));
    let borrowed = based
        .iter()
        .map(|file| (file.name.as_str(), file.bytes.as_slice()));
    let bound =
        bind::bind(borrowed, bind::Options::default()).unwrap_or_else(|error| panic!("{root}: {error}"));
    let borrowed = bound
        .iter()
        .map(|file| (file.name.as_str(), file.bytes.as_slice()));
    let plan = Plan::new(borrowed, root, Options::default()).unwrap();
    let loaded = plan.load().unwrap_or_else(|error| panic!("{root}: {error}"));
    let left: Vec<_> = bound.iter().flat_map(|file| &file.left).collect();
    println!("{root}: {:?}, left {left:?}", loaded.counts);
    assert_eq!((loaded.counts.moved, loaded.counts.stale), (0, 0), "{root}");
    assert_eq!(loaded.counts.names + loaded.counts.ordinals, 0, "{root}");
    assert_eq!(
        check(&plan, &loaded).unwrap().differences,
        Vec::<String>::new(),
        "{root}"
    );
}

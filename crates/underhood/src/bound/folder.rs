//! The files of a bound copy: where they lie, how they come there, and how they go.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use image::elf::Image;
use image::elf::closure::Closure;
use record::format::bound::Document;

use crate::exit::{COMMAND_FAILED, Failure};

/// The folder beside the copies with everything else.
const HIDDEN: &str = ".underhood";

/// The document of a set.
const LEDGER: &str = "bound.json";

/// Addresses are drawn from here: above what the address sanitizer shadows,
pub const LOWEST: u64 = 0x1200_0000_0000;

/// below a third of the address space, where the kernel begins when the stack is unlimited.
const HIGHEST: u64 = 0x2800_0000_0000;

/// Where a set of so many bytes is to begin. On a huge page: 22 TiB of them are 23 bits of chance.
pub fn random_begin(size: u64) -> Result<u64, Failure> {
    const HUGE: u64 = 2 << 20;
    let random = getrandom::u64()
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("draw an address: {error}")))?;
    let places = (HIGHEST - LOWEST).saturating_sub(size) / HUGE;
    Ok(LOWEST + random % places.max(1) * HUGE)
}

/// The files of one bound copy that is being made.
#[derive(Debug)]
pub struct Set {
    out: PathBuf,
    name: String,
    /// The folder for all but the copy.
    folder: PathBuf,
    /// The file names of the libraries' copies, by object.
    libraries: Vec<String>,
}

fn failed(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(COMMAND_FAILED, format!("{what} {}: {error}", path.display()))
}

impl Set {
    /// Makes the folders of a new set, and removes those that nobody uses any more.
    pub fn new(out: &Path, program: &Path, closure: &Closure) -> Result<Self, Failure> {
        let out = std::path::absolute(out).map_err(|error| failed("find", out, &error))?;
        let name = program
            .file_name()
            .map(OsStr::to_string_lossy)
            .unwrap_or_default()
            .into_owned();
        let target = out.join(&name);
        if target.exists() && document_of(&target).is_none() {
            return Err(Failure::usage(format!(
                "write {}: there is a file that is no bound copy; name another folder with --out",
                target.display()
            )));
        }
        let id = getrandom::u64().map_err(|error| failed("name", &out, &error))?;
        let hidden = out.join(HIDDEN);
        let folder = hidden.join(format!("{name}-{id:016x}"));
        for unused in unused(&out, &name) {
            // What cannot be removed now is removed the next time.
            let _ = fs::remove_dir_all(unused);
        }
        fs::create_dir_all(folder.join("lib")).map_err(|error| failed("create", &folder, &error))?;
        let mut libraries: Vec<String> = Vec::new();
        for object in &closure.objects {
            let base = Path::new(&object.path)
                .file_name()
                .map(OsStr::to_string_lossy)
                .unwrap_or_default();
            let taken = libraries.contains(&base.to_string());
            let index = libraries.len();
            libraries.push(if taken {
                format!("{index}-{base}")
            } else {
                base.into_owned()
            });
        }
        Ok(Self {
            out,
            name,
            folder,
            libraries,
        })
    }

    /// The copy of the program, once it is in place.
    pub fn copy(&self) -> PathBuf {
        self.out.join(&self.name)
    }

    /// The folder with everything else.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of the guard.
    pub fn guard(&self) -> String {
        self.folder.join("guard").display().to_string()
    }

    /// The path under which the loader finds the copy of an object.
    pub fn path_of(&self, object: usize) -> String {
        self.place_of(object).display().to_string()
    }

    /// The path of the copy of an object in the end.
    pub fn place_of(&self, object: usize) -> PathBuf {
        if object == 0 {
            return self.copy();
        }
        let name = self.libraries.get(object).map_or("", String::as_str);
        self.folder.join("lib").join(name)
    }

    /// Where the copy of an object is until the set is complete.
    pub fn now(&self, object: usize) -> PathBuf {
        if object == 0 {
            self.folder.join("program")
        } else {
            self.place_of(object)
        }
    }

    /// Writes the copy of an object.
    pub fn write(&self, object: usize, bytes: &[u8]) -> Result<(), Failure> {
        write(&self.now(object), bytes, if object == 0 { 0o755 } else { 0o644 })
    }

    /// Completes the set; only the copy of the program is not in its place yet.
    pub fn complete(&self, guard: &[u8], document: &Document) -> Result<(), Failure> {
        write(&self.folder.join("guard"), guard, 0o755)?;
        self.note(document)
    }

    /// Writes down what was done.
    pub fn note(&self, document: &Document) -> Result<(), Failure> {
        let text = record::format::to_text(document);
        write(&self.folder.join(LEDGER), text.as_bytes(), 0o644)
    }

    /// Puts the copy of the program in its place.
    pub fn put_in_place(&self) -> Result<(), Failure> {
        let copy = self.copy();
        fs::rename(self.now(0), &copy).map_err(|error| failed("put in place", &copy, &error))
    }

    /// Removes what was made.
    pub fn discard(&self) {
        let _ = fs::remove_dir_all(&self.folder);
        // These go only if they are empty.
        let _ = fs::remove_dir(self.out.join(HIDDEN));
        let _ = fs::remove_dir(&self.out);
    }
}

/// The folder of the set that a file belongs to, if it is the copy of a bound program.
fn folder_of(copy: &Path) -> Option<PathBuf> {
    let bytes = fs::read(copy).ok()?;
    let guard = PathBuf::from(Image::parse(&bytes).ok()?.interpreter()?);
    let folder = guard.parent()?;
    let hidden = folder.parent()?.file_name()? == HIDDEN;
    (hidden && guard.ends_with("guard")).then(|| folder.to_owned())
}

/// The document of a bound program, by its copy.
pub fn document_of(copy: &Path) -> Option<Document> {
    let text = fs::read_to_string(folder_of(copy)?.join(LEDGER)).ok()?;
    serde_json::from_str(&text).ok()
}

/// The documents of the bound programs in a folder or in the folders in it, or of one copy.
pub fn documents(place: &Path) -> Result<Vec<Document>, Failure> {
    if !place.is_dir() {
        return Ok(document_of(place).into_iter().collect());
    }
    let mut found = Vec::new();
    for path in sorted(place)? {
        if path.is_file() {
            found.extend(document_of(&path));
        } else if path.is_dir() && !path.ends_with(HIDDEN) {
            for copy in sorted(&path)?.iter().filter(|copy| copy.is_file()) {
                found.extend(document_of(copy));
            }
        }
    }
    Ok(found)
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, &error))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| failed("read", folder, &error))?;
    paths.sort();
    Ok(paths)
}

/// Removes a bound program.
pub fn remove(document: &Document) -> Result<(), Failure> {
    let copy = Path::new(&document.copy);
    let folder = Path::new(&document.folder);
    // Nobody can start it any more, then the rest goes.
    fs::remove_file(copy).map_err(|error| failed("remove", copy, &error))?;
    fs::remove_dir_all(folder).map_err(|error| failed("remove", folder, &error))?;
    let name = copy.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    if let Some(out) = copy.parent() {
        for unused in unused(out, &name) {
            fs::remove_dir_all(&unused).map_err(|error| failed("remove", &unused, &error))?;
        }
        // These go only if they are empty.
        let _ = fs::remove_dir(out.join(HIDDEN));
        let _ = fs::remove_dir(out);
    }
    Ok(())
}

/// The folders of sets of this name that no copy leads to.
fn unused(out: &Path, name: &str) -> Vec<PathBuf> {
    let used = folder_of(&out.join(name));
    let mut found = Vec::new();
    for entry in fs::read_dir(out.join(HIDDEN)).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let id = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        let ours = id.is_some_and(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if ours && used.as_deref() != Some(&entry.path()) {
            found.push(entry.path());
        }
    }
    found
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    os::files::write(path, bytes, os::files::own_attributes(mode))
        .map_err(|error| failed("write", path, &error))
}

//! Where the loader looks for a library, in which order, and what it remembers of folders that are not there.
//!
//! A name without slash is searched in the folders of `DT_RPATH` (of the file that needs it, of the one that
//! needed that, and so on, and of the program), of `LD_LIBRARY_PATH`, of `DT_RUNPATH` (of the file itself only), in the cache,
//! and in the system's folders. Each folder is tried with subfolders for the processor first: `glibc-hwcaps/x86-64-v3` and
//! its relatives, and until glibc 2.36 every combination of older names (`tls/haswell/avx512_1/x86_64`), which is why one name
//! in `LD_LIBRARY_PATH` costs 19 failed calls. A folder that is not there is noticed at the first failure and passed over
//! from then on.

use std::collections::HashMap;
use std::rc::Rc;

use super::cache::{Cache, Hardware};
use super::{Machine, tokens};

/// The loader and what it was told: all that decides about a search beside the files themselves.
#[derive(Clone, Debug)]
pub struct Loader {
    /// The processor.
    pub machine: Machine,
    /// What `$PLATFORM` stands for (`dl_platform`).
    pub platform: Option<String>,
    /// What `$LIB` stands for (`dl_dst_lib`).
    pub library_dir: String,
    /// The folders that it was built with, in order.
    pub system_dirs: Vec<String>,
    /// Names of the older subfolders, the outermost first; all combinations are tried (glibc up to 2.36).
    pub older_names: Vec<String>,
    /// What it knows about the processor.
    pub hardware: Hardware,
    /// The index of libraries.
    pub cache: Cache,
    /// `LD_LIBRARY_PATH`, ignored in secure mode.
    pub library_path: Option<String>,
    /// Libraries to be loaded before all others, by the user's wish (`LD_PRELOAD`). In secure mode paths are ignored.
    pub preload: Vec<String>,
    /// The same by the system's (`/etc/ld.so.preload`); they come after the user's.
    pub system_preload: Vec<String>,
    /// `LD_BIND_NOW`: all functions are bound at start.
    pub bind_now: bool,
    /// The program runs with rights that its user has not got, so the user's wishes are ignored.
    pub secure: bool,
}

impl Loader {
    /// The loader as Debian 12 builds it, on the least processor, with no cache and no wishes.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        let triplet = format!("{}-linux-gnu", machine.name());
        Self {
            machine,
            platform: Some(machine.name().to_owned()),
            library_dir: format!("lib/{triplet}"),
            system_dirs: [
                format!("/lib/{triplet}"),
                format!("/usr/lib/{triplet}"),
                "/lib".to_owned(),
                "/usr/lib".to_owned(),
            ]
            .to_vec(),
            older_names: Vec::new(),
            hardware: Hardware::default(),
            cache: Cache::default(),
            library_path: None,
            preload: Vec::new(),
            system_preload: Vec::new(),
            bind_now: false,
            secure: false,
        }
    }

    /// The subfolders that are tried in each folder, in order; the last is the folder itself.
    #[must_use]
    pub fn subfolders(&self) -> Vec<String> {
        let levels = self
            .hardware
            .levels
            .iter()
            .map(|level| format!("glibc-hwcaps/{level}/"));
        let names = &self.older_names;
        // Counting down in binary, the first name being the highest bit. More than a handful exist on no processor.
        let combinations = 1_u32 << names.len().min(8);
        let older = (0..combinations).rev().map(|chosen| {
            names
                .iter()
                .rev()
                .take(8)
                .enumerate()
                .filter(|(bit, _)| chosen >> bit & 1 == 1)
                .fold(String::new(), |inner, (_, name)| format!("{name}/{inner}"))
        });
        levels.chain(older).collect()
    }
}

/// What the file system says. The loader's questions, so that a test can answer them from a table.
pub trait Files {
    /// Opens a file (open(2)).
    fn open(&self, path: &str) -> Opened;
    /// Whether there is a folder of this name (stat(2)).
    fn is_folder(&self, path: &str) -> bool;
}

/// The answer to [`Files::open`].
#[derive(Clone, Debug)]
pub enum Opened {
    /// A file.
    File(File),
    /// None that this process can reach (`ENOENT`, `ENOTDIR`, `EACCES`): the loader looks elsewhere.
    Missing,
    /// Anything else (a circle of links, a broken disk): the loader gives up the list of folders.
    Failed,
}

/// An opened file.
#[derive(Clone, Debug)]
pub struct File {
    /// What tells it from all others (device and inode).
    pub identity: (u64, u64),
    /// Its content.
    pub bytes: Rc<Vec<u8>>,
    /// Whether it has the set-user-id bit, which preloaded libraries of secure programs must have.
    pub setuid: bool,
}

/// Why a place is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `DT_RPATH` of an object, by its index in the closure.
    Rpath(usize),
    /// `LD_LIBRARY_PATH`.
    LibraryPath,
    /// `DT_RUNPATH` of an object.
    Runpath(usize),
    /// The cache names it.
    Cache,
    /// The loader's own folders.
    Default,
    /// The name is a path.
    Path,
}

/// What was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The library.
    Found,
    /// Nothing.
    Missing,
    /// A file for another kind of processor; the loader looks on.
    OtherMachine,
    /// A file that ends the start with an error.
    Refused,
}

/// One place that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file that was tried.
    pub path: String,
    /// Why there.
    pub reason: Reason,
    /// What was there.
    pub outcome: Outcome,
    /// Whether the folder was asked for too, which happens at the first failure in it.
    pub asked_folder: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    There,
    Absent,
}

/// The folders of all lists. A folder in several lists is one, with one memory.
#[derive(Default)]
pub(super) struct Folders {
    subfolders: Vec<String>,
    names: HashMap<String, usize>,
    /// Path with slash, and what is known of each subfolder.
    folders: Vec<(String, Vec<Known>)>,
}

impl Folders {
    pub(super) fn new(loader: &Loader) -> Self {
        Self {
            subfolders: loader.subfolders(),
            ..Self::default()
        }
    }

    /// The folders of a list. Empty parts are the current folder; a part whose tokens have no value is left out.
    pub(super) fn list(
        &mut self,
        path: &str,
        separators: &[char],
        origin: &str,
        program: bool,
        loader: &Loader,
    ) -> Vec<usize> {
        let mut list = Vec::new();
        for part in path.split(separators) {
            let Some(folder) = tokens::expand(part, origin, program, loader) else {
                continue;
            };
            if folder.is_empty() && !part.is_empty() {
                continue;
            }
            let index = self.folder(&folder);
            if !list.contains(&index) {
                list.push(index);
            }
        }
        list
    }

    fn folder(&mut self, path: &str) -> usize {
        let trimmed = path.trim_end_matches('/');
        let path = match (path.is_empty(), trimmed.is_empty()) {
            (true, _) => String::new(),
            (false, true) => "/".to_owned(),
            (false, false) => format!("{trimmed}/"),
        };
        if let Some(&index) = self.names.get(&path) {
            return index;
        }
        // What is there by a relative name may change with the current folder, so it is never taken for absent.
        let known = if path.starts_with('/') {
            Known::Nothing
        } else {
            Known::There
        };
        let index = self.folders.len();
        self.folders
            .push((path.clone(), vec![known; self.subfolders.len()]));
        self.names.insert(path, index);
        index
    }

    /// Tries a name in each folder of a list. `accept` opens a path and says what it is.
    pub(super) fn search<T>(
        &mut self,
        list: &[usize],
        name: &str,
        files: &dyn Files,
        mut accept: impl FnMut(&str) -> (Outcome, Option<T>, bool),
        places: &mut dyn FnMut(String, Outcome, bool),
    ) -> Tried<T> {
        for &index in list {
            let Some((folder, known)) = self.folders.get_mut(index) else {
                continue;
            };
            let mut here = false;
            let mut gave_up = false;
            for (subfolder, known) in self.subfolders.iter().zip(known) {
                if *known == Known::Absent {
                    continue;
                }
                let path = format!("{folder}{subfolder}{name}");
                let (outcome, found, failed) = accept(&path);
                let mut asked = false;
                if *known == Known::Nothing {
                    *known = if outcome == Outcome::Found {
                        Known::There
                    } else {
                        asked = true;
                        match files.is_folder(&format!("{folder}{subfolder}")) {
                            true => Known::There,
                            false => Known::Absent,
                        }
                    };
                }
                here |= *known == Known::There;
                gave_up = failed;
                places(path.clone(), outcome, asked);
                match (outcome, found) {
                    (Outcome::Found, Some(found)) => return Tried::Found(path, found),
                    (Outcome::Refused, _) => return Tried::Refused,
                    _ => {}
                }
            }
            if here && gave_up {
                break;
            }
        }
        Tried::Nothing
    }
}

/// How the search of a list ended.
pub(super) enum Tried<T> {
    Found(String, T),
    Refused,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subfolders_are_tried_in_the_order_of_the_loader() {
        let mut loader = Loader::new(Machine::X86_64);
        assert_eq!(loader.subfolders(), [""]);
        loader.hardware.levels = ["x86-64-v3", "x86-64-v2"].map(str::to_owned).to_vec();
        loader.older_names = ["tls", "haswell", "x86_64"].map(str::to_owned).to_vec();
        assert_eq!(
            loader.subfolders(),
            [
                "glibc-hwcaps/x86-64-v3/",
                "glibc-hwcaps/x86-64-v2/",
                "tls/haswell/x86_64/",
                "tls/haswell/",
                "tls/x86_64/",
                "tls/",
                "haswell/x86_64/",
                "haswell/",
                "x86_64/",
                "",
            ]
        );
    }
}

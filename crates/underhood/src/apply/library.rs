//! Libraries in places that nobody cleans.
//!
//! What is unpacked lies in the user's cache, which may be emptied at any time, and a service may not be allowed to look
//! there. What is to last is copied. A copy is shared by everything that names it, and it must outlive the last
//! process that was started with it in `LD_PRELOAD`: the loader complains in every program about a library that it
//! is told to load and cannot find.

use std::fs;
use std::path::{Path, PathBuf};

use super::ledger::Ledger;
use super::places::Places;
use super::state::State;
use crate::exit::{Failure, UNSUPPORTED};

/// How the files of all libraries that we carry begin.
const PREFIX: &str = "libunderhood_";

/// A library that we carry, with its lasting place.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its path as programs see it.
    pub path: PathBuf,
    content: &'static [u8],
}

impl Library {
    /// The carried library of a name, such as `selector`.
    pub fn carried(places: &Places, name: &str) -> Result<Self, Failure> {
        let artifact = bundle::find(name).ok_or_else(|| {
            let why = "it is made for Linux with the GNU C library";
            Failure::new(
                UNSUPPORTED,
                format!("find the library {name:?} among what this build carries; {why}"),
            )
        })?;
        Self::placed(places, artifact)
    }

    /// The lasting copy of a library that was unpacked; `None` for one that is not ours and lasts anyway.
    pub fn of_unpacked(places: &Places, unpacked: &Path) -> Result<Option<Self>, Failure> {
        let ours = bundle::artifacts().iter().find(|artifact| {
            unpacked
                .file_name()
                .is_some_and(|name| name == artifact.file_name)
                && fs::read(unpacked).is_ok_and(|content| content == artifact.bytes)
        });
        ours.map(|artifact| Self::placed(places, artifact)).transpose()
    }

    fn placed(places: &Places, artifact: &bundle::Artifact) -> Result<Self, Failure> {
        let path = places.libraries().join(artifact.file_name);
        match suites::remedy::unlistable(&path) {
            Some(reason) => Err(Failure::new(UNSUPPORTED, format!("preload a library: {reason}"))),
            None => Ok(Self {
                path,
                content: artifact.bytes,
            }),
        }
    }

    /// Writes it to where it is to lie now.
    pub fn write(&self, target: &Path) -> Result<(), Failure> {
        if fs::read(target).is_ok_and(|content| content == self.content) {
            return Ok(());
        }
        let state = State {
            content: self.content.to_owned(),
            attributes: os::files::own_attributes(0o755),
        };
        State::restore(Some(&state), target)
    }
}

/// Removes the copies that no record needs and no running process was started with.
pub fn sweep(places: &Places) {
    let needed: Vec<PathBuf> = Ledger::all(places)
        .into_iter()
        .flat_map(|record| record.libraries)
        .collect();
    let folder = places.on_disk(&places.libraries());
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = places.libraries().join(entry.file_name());
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if ours && !needed.contains(&path) && (!places.is_real() || users(&path).is_empty()) {
            // What cannot be removed now is removed the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(&folder);
}

/// The running processes that were started with a library.
pub fn users(library: &Path) -> Vec<u32> {
    let variable = os::loader::preload_variable().unwrap_or("LD_PRELOAD");
    os::start::started_with(variable, library.as_os_str().as_encoded_bytes())
}

/// What to tell a person about copies that could not be removed yet.
pub fn kept(places: &Places) -> Option<String> {
    let entries = fs::read_dir(places.on_disk(&places.libraries())).ok()?;
    let needed: Vec<PathBuf> = Ledger::all(places)
        .into_iter()
        .flat_map(|record| record.libraries)
        .collect();
    let paths = entries
        .flatten()
        .map(|entry| places.libraries().join(entry.file_name()));
    let busy: Vec<_> = paths
        .filter(|path| !needed.contains(path))
        .map(|path| (users(&path).len(), path))
        .collect();
    let (count, path) = busy.into_iter().find(|(count, _)| *count > 0)?;
    Some(format!(
        "{} stays for now: {count} running processes were started with it; the next undo or select removes it",
        path.display()
    ))
}

//! The record of what was changed, so that it can be undone exactly.
//!
//! A record is written before the first file is touched and removed after the last one is restored: whatever
//! interrupts us, it still tells what was there. One record stands for one thing that a person made (the rules of a
//! user, one launcher), and making it again keeps what was there before the first time.
//!
//! Of a file we own the whole, or one line among other people's. A whole file that somebody changed meanwhile is
//! not touched; from the other kind our line is removed and the rest stays.

mod lines;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::library::{self, Library};
use super::places::Places;
use super::state::{Kept, State, denied, digest};
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure};

/// The format of a record.
const SCHEMA: &str = "underhood.undo/1";

/// A file as it is to be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its path as programs see it.
    pub path: PathBuf,
    /// The content that is ours.
    pub ours: Ours,
    /// The mode of a file that is new.
    pub mode: u32,
}

/// How much of a file is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ours {
    /// All of it.
    Whole(Vec<u8>),
    /// This line, without its end; the rest belongs to others.
    Line(String),
}

/// What was changed for one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    /// What it was for.
    pub title: String,
    /// Libraries that are needed as long as the record stands.
    pub libraries: Vec<PathBuf>,
    changes: Vec<Change>,
    /// Folders that were created, the outermost first.
    folders: Vec<PathBuf>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    path: PathBuf,
    /// Our line, where only that is ours.
    line: Option<String>,
    /// What was there; null for nothing.
    before: Option<Kept>,
    /// SHA-256 of what we left there.
    after: String,
}

impl Record {
    /// Whether a file is as we left it; `None` when the record does not know it.
    pub fn is_intact(&self, places: &Places, path: &Path) -> Option<bool> {
        let change = self.changes.iter().find(|change| change.path == path)?;
        let current = State::of(&places.on_disk(path)).ok().flatten();
        Some(current.is_some_and(|state| digest(&state.content) == change.after))
    }

    /// The files that it changed.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.changes.iter().map(|change| change.path.as_path())
    }
}

/// One record of the ledger, there or not yet.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    places: &'a Places,
    name: String,
}

impl<'a> Ledger<'a> {
    /// The record of a name.
    pub fn named(places: &'a Places, name: &str) -> Self {
        Self {
            places,
            name: format!("{name}.json"),
        }
    }

    /// The record of one file that we made.
    pub fn of_file(places: &'a Places, path: &Path) -> Self {
        let name = digest(path.as_os_str().as_encoded_bytes());
        Self::named(places, name.get(..16).unwrap_or(&name))
    }

    fn folder(&self) -> PathBuf {
        self.places.on_disk(&self.places.ledger())
    }

    fn file(&self) -> PathBuf {
        self.folder().join(&self.name)
    }

    /// The record, if there is one.
    pub fn read(&self) -> Result<Option<Record>, Failure> {
        read(&self.file())
    }

    /// Changes files and records it. Nothing is changed when one of them is not ours and `force` is not given.
    pub fn apply(
        &self,
        title: &str,
        libraries: &[Library],
        wanted: &[Wanted],
        force: bool,
    ) -> Result<(), Failure> {
        let earlier = self.read()?;
        let mut record = Record {
            schema: SCHEMA.to_owned(),
            title: title.to_owned(),
            libraries: libraries.iter().map(|library| library.path.clone()).collect(),
            changes: Vec::new(),
            folders: earlier
                .as_ref()
                .map(|record| record.folders.clone())
                .unwrap_or_default(),
        };
        let mut steps = Vec::new();
        for wanted in wanted {
            if wanted.path.to_str().is_none() {
                let path = wanted.path.display();
                return Err(Failure::usage(format!(
                    "keep a record of {path}: its name is not UTF-8; choose another name"
                )));
            }
            let known = earlier
                .iter()
                .flat_map(|record| &record.changes)
                .find(|change| change.path == wanted.path);
            let step = self.step(wanted, known, force)?;
            record.changes.push(step.change.clone());
            steps.push(step);
        }
        let forgotten = earlier
            .iter()
            .flat_map(|record| &record.changes)
            .filter(|change| wanted.iter().all(|wanted| wanted.path != change.path));
        record.changes.extend(forgotten.cloned());
        let result = self.carry_out(&mut record, libraries, &steps);
        if result.is_err() {
            // The first failure is the one to report; what this cannot restore the record still knows.
            let restored = steps
                .iter()
                .rev()
                .all(|step| State::restore(step.current.as_ref(), &step.target).is_ok());
            if restored && self.write(earlier.as_ref()).is_ok() {
                library::sweep(self.places);
                let known = earlier.map(|record| record.folders).unwrap_or_default();
                remove_folders(record.folders.iter().filter(|folder| !known.contains(folder)));
            }
        }
        result
    }

    fn step(&self, wanted: &Wanted, known: Option<&Change>, force: bool) -> Result<Step, Failure> {
        let target = self.places.on_disk(&wanted.path);
        let current = State::of(&target)?;
        let untouched = known.is_some_and(|change| {
            current
                .as_ref()
                .is_some_and(|state| digest(&state.content) == change.after)
        });
        let others = || {
            current
                .as_ref()
                .map(|state| lines::without(&state.content, known.and_then(|change| change.line.as_deref())))
        };
        let before = match known {
            Some(change) if untouched => change.before.clone(),
            Some(_) if current.is_none() => None,
            Some(_) if matches!(wanted.ours, Ours::Line(_)) => {
                // Somebody else wrote to it since: what they want without us is what is there without our line.
                let (content, attributes) = (others(), current.as_ref().map(|state| state.attributes));
                content
                    .zip(attributes)
                    .map(|(content, attributes)| Kept::from(&State { content, attributes }))
            }
            _ => {
                if current.is_some() && !force && matches!(wanted.ours, Ours::Whole(_)) {
                    let why = if known.is_some() {
                        "somebody changed it since"
                    } else {
                        "it is not ours"
                    };
                    let path = target.display();
                    return Err(Failure::new(
                        CHECK_FAILED,
                        format!("overwrite {path}: {why}; move it away, or overwrite it with --force"),
                    ));
                }
                current.as_ref().map(Kept::from)
            }
        };
        let attributes = match (&current, &wanted.ours) {
            (Some(state), Ours::Line(_)) => state.attributes,
            _ => os::files::own_attributes(wanted.mode),
        };
        let (content, line) = match &wanted.ours {
            Ours::Whole(content) => (content.clone(), None),
            Ours::Line(line) => (
                lines::with(&others().unwrap_or_default(), line),
                Some(line.clone()),
            ),
        };
        let change = Change {
            path: wanted.path.clone(),
            line,
            before,
            after: digest(&content),
        };
        Ok(Step {
            change,
            target,
            current,
            new: State { content, attributes },
        })
    }

    fn carry_out(&self, record: &mut Record, libraries: &[Library], steps: &[Step]) -> Result<(), Failure> {
        let mode = self.places.folder_mode();
        let libraries: Vec<_> = libraries
            .iter()
            .map(|library| (library, self.places.on_disk(&library.path)))
            .collect();
        let targets = libraries
            .iter()
            .map(|(_, target)| target)
            .chain(steps.iter().map(|step| &step.target));
        let mut folders = vec![self.folder()];
        folders.extend(targets.filter_map(|target| target.parent().map(Path::to_owned)));
        for folder in folders {
            create_folders(&folder, mode, record)?;
        }
        self.write(Some(record))?;
        for (library, target) in libraries {
            library.write(&target)?;
        }
        steps
            .iter()
            .try_for_each(|step| State::restore(Some(&step.new), &step.target))
    }

    /// Writes or removes the record.
    fn write(&self, record: Option<&Record>) -> Result<(), Failure> {
        let Some(record) = record else {
            return State::restore(None, &self.file());
        };
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Failure::new(COMMAND_FAILED, format!("write the record of changes: {error}")))?;
        // It holds what was in files that perhaps not everybody may read.
        let state = State {
            content: format!("{text}\n").into_bytes(),
            attributes: os::files::own_attributes(0o600),
        };
        State::restore(Some(&state), &self.file())
    }

    /// Puts everything back as it was. `force` also overwrites what somebody changed after us.
    ///
    /// Returns the files that were restored or removed.
    pub fn undo(&self, force: bool) -> Result<Vec<PathBuf>, Failure> {
        let Some(record) = self.read()? else {
            let folder = self.folder();
            return Err(Failure::new(
                CHECK_FAILED,
                format!("undo: nothing is recorded in {}", folder.display()),
            ));
        };
        // All is judged before anything is touched.
        let mut plan = Vec::new();
        for change in record.changes.iter().rev() {
            let target = self.places.on_disk(&change.path);
            if let Some(state) = reverse(change, &target, force)? {
                plan.push((change.path.clone(), target, state));
            }
        }
        for (_, target, state) in &plan {
            State::restore(state.as_ref(), target)?;
        }
        self.write(None)?;
        library::sweep(self.places);
        remove_folders(record.folders.iter());
        Ok(plan.into_iter().map(|(path, ..)| path).collect())
    }

    /// All records of a place, for those who must know what is still needed.
    pub fn all(places: &Places) -> Vec<Record> {
        let entries = fs::read_dir(places.on_disk(&places.ledger()))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter_map(|entry| read(&entry.path()).ok().flatten())
            .collect()
    }
}

/// A change that is about to be made.
#[derive(Debug)]
struct Step {
    change: Change,
    target: PathBuf,
    current: Option<State>,
    new: State,
}

fn read(file: &Path) -> Result<Option<Record>, Failure> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(denied(error, &format!("read {}", file.display()))),
    };
    let record = serde_json::from_slice::<Record>(&bytes)
        .ok()
        .filter(|record| record.schema == SCHEMA);
    record.map(Some).ok_or_else(|| {
        let path = file.display();
        Failure::new(
            CHECK_FAILED,
            format!("understand {path}: it is damaged, or a newer version of Underhood wrote it"),
        )
    })
}

/// What to make of a changed file: `None` to leave it alone, `Some(None)` to remove it.
fn reverse(change: &Change, target: &Path, force: bool) -> Result<Option<Option<State>>, Failure> {
    let damaged = || {
        Failure::new(
            CHECK_FAILED,
            format!("undo {}: the record is damaged", change.path.display()),
        )
    };
    let before = match &change.before {
        Some(kept) => Some(kept.state().ok_or_else(damaged)?),
        None => None,
    };
    let current = State::of(target)?;
    if current == before {
        return Ok(None);
    }
    let Some(state) = &current else {
        // Somebody removed it. If nothing was there before, that is what undoing would do.
        return if force {
            Ok(Some(before))
        } else {
            refuse(target, "removed")
        };
    };
    if force || digest(&state.content) == change.after {
        return Ok(Some(before));
    }
    let Some(line) = &change.line else {
        return refuse(target, "changed");
    };
    let content = lines::without(&state.content, Some(line));
    if content.is_empty() && before.is_none() {
        return Ok(Some(None));
    }
    Ok((content != state.content).then_some(Some(State {
        content,
        attributes: state.attributes,
    })))
}

fn refuse<T>(target: &Path, what: &str) -> Result<T, Failure> {
    let path = target.display();
    let advice = "look at what it was changed for; --force restores what was there before us all the same";
    Err(Failure::new(
        CHECK_FAILED,
        format!("undo {path}: somebody {what} it since; {advice}"),
    ))
}

fn create_folders(folder: &Path, mode: u32, record: &mut Record) -> Result<(), Failure> {
    let created = os::files::create_folders(folder, mode)
        .map_err(|error| denied(error, &format!("create the folder {}", folder.display())))?;
    record.folders.extend(created);
    Ok(())
}

/// Removes folders that we created, where nothing else has come into them.
fn remove_folders<'a>(folders: impl DoubleEndedIterator<Item = &'a PathBuf>) {
    for folder in folders.rev() {
        // One that is in use is not empty, and stays.
        let _ = fs::remove_dir(folder);
    }
}

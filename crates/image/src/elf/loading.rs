//! Loading a program and all that it needs, as `ld.so` does, without mapping anything.

use super::closure::{Closure, Ending, Object, Program, Role, Search, Wishes};
use super::search::{File, Files, Folders, Loader, Opened, Outcome, Place, Reason, Tried};
use super::{Image, Kind, Machine, Unreadable, order, tokens};

/// More needs than any program has.
const MOST_SEARCHES: usize = 20_000;

/// Loads a program, as far as the loader would before it relocates anything. A library that is missing ends the real
/// thing; here it is noted, and the rest is loaded all the same, as `ldd` does.
///
/// # Errors
/// When the program itself, or its loader, cannot be read.
pub fn load(program: Program, loader: &Loader, files: &dyn Files) -> Result<Closure, Unreadable> {
    let image = Image::parse(&program.file.bytes)?;
    let interpreter = image.interpreter().unwrap_or(program.interpreter);
    let is_static = matches!(image.kind(), Kind::Static | Kind::StaticPie);
    let wishes = Wishes::of(&image)?;
    let mut loading = Loading {
        loader,
        files,
        folders: Folders::new(loader),
        library_path: Vec::new(),
        default: Vec::new(),
        closure: Closure {
            bind_now: loader.bind_now,
            ..Closure::default()
        },
    };
    loading.closure.objects.push(Object {
        path: program.path,
        role: Role::Program,
        bytes: program.file.bytes,
        loaded_by: None,
        needed: Vec::new(),
        // The loader never asked which file the kernel took the program from.
        identity: None,
        names: Vec::new(),
        origin: program.origin,
        wishes,
        rpath: None,
        runpath: None,
    });
    loading.closure.scope.push(0);
    if !is_static {
        loading.interpreter(&interpreter)?;
        loading.run();
    }
    let mut closure = loading.closure;
    closure.relocated = order::relocation_order(&closure);
    Ok(closure)
}

struct Loading<'a> {
    loader: &'a Loader,
    files: &'a dyn Files,
    folders: Folders,
    library_path: Vec<usize>,
    default: Vec<usize>,
    closure: Closure,
}

/// A file that was found, and the facts that are looked at before it is loaded.
struct Found {
    file: File,
    path: String,
}

impl Loading<'_> {
    fn interpreter(&mut self, path: &str) -> Result<(), Unreadable> {
        let Opened::File(file) = self.files.open(path) else {
            self.closure.notes.push(format!(
                "the loader {path} is missing: the program does not start"
            ));
            return Ok(());
        };
        let wishes = Wishes::of(&Image::parse(&file.bytes)?)?;
        self.closure.objects.push(Object {
            path: path.to_owned(),
            role: Role::Loader,
            bytes: file.bytes,
            loaded_by: None,
            needed: Vec::new(),
            identity: None,
            names: vec![path.to_owned()],
            origin: folder_of(path),
            wishes,
            rpath: None,
            runpath: None,
        });
        Ok(())
    }

    fn run(&mut self) {
        for dir in &self.loader.system_dirs {
            let list = self.folders.list(dir, &[], "", false, self.loader);
            self.default.extend(list);
        }
        if let Some(path) = self
            .loader
            .library_path
            .as_deref()
            .filter(|path| !self.loader.secure && !path.is_empty())
        {
            let origin = self.origin(0);
            self.library_path = self.folders.list(path, &[':', ';'], &origin, true, self.loader);
        }
        let loader = self.loader;
        // Of what the user wants, only plain names of privileged libraries go into privileged programs.
        let wanted = loader
            .preload
            .iter()
            .filter(|name| !(loader.secure && name.contains('/')));
        for name in wanted.chain(&loader.system_preload) {
            let before = self.closure.objects.len();
            if let Some(index) = self.need(0, name, Role::Preloaded)
                && index >= before
            {
                self.closure.scope.push(index);
            }
        }
        let mut next = 0;
        while let Some(&object) = self.closure.scope.get(next) {
            next += 1;
            for name in self.wishes(object).needed {
                if self.closure.searches.len() >= MOST_SEARCHES {
                    self.closure
                        .notes
                        .push(format!("more than {MOST_SEARCHES} needs: the rest is left out"));
                    return;
                }
                if let Some(index) = self.need(object, &name, Role::Library) {
                    if !self.closure.scope.contains(&index) {
                        self.closure.scope.push(index);
                    }
                    if let Some(object) = self.closure.objects.get_mut(object) {
                        object.needed.push(index);
                    }
                }
            }
            if self.wishes(object).filters {
                let path = self.path(object);
                self.closure.notes.push(format!(
                    "{path} is a filter (DT_FILTER, DT_AUXILIARY); what it stands for is not followed"
                ));
            }
        }
    }

    /// Finds and loads what an object needs. The index of it, if there is one.
    fn need(&mut self, by: usize, raw: &str, role: Role) -> Option<usize> {
        let mut places = Vec::new();
        let (name, ending) = match self.expanded(by, raw) {
            Ok(name) => {
                let ending = self.find(by, &name, role, &mut places);
                (name, ending)
            }
            Err(why) => (raw.to_owned(), Ending::Refused(why)),
        };
        let index = match &ending {
            Ending::Loaded(index) | Ending::Known(index) | Ending::SameFile(index) => Some(*index),
            Ending::Missing | Ending::Refused(_) => None,
        };
        self.closure.searches.push(Search {
            name,
            needed_by: by,
            places,
            ending,
        });
        index
    }

    fn expanded(&self, by: usize, name: &str) -> Result<String, String> {
        if !tokens::contains(name) {
            return Ok(name.to_owned());
        }
        if self.loader.secure {
            return Err("names with $ORIGIN and its like are not allowed in privileged programs".to_owned());
        }
        tokens::expand(name, &self.origin(by), by == 0, self.loader)
            .filter(|name| !name.is_empty())
            .ok_or_else(|| "a $ token in its name has no value".to_owned())
    }

    fn find(&mut self, by: usize, name: &str, role: Role, places: &mut Vec<Place>) -> Ending {
        if let Some(index) = self
            .closure
            .objects
            .iter()
            .position(|object| object.is_called(name))
        {
            return Ending::Known(index);
        }
        let found = if name.contains('/') {
            self.by_path(name, places)
        } else {
            self.by_name(by, name, role, places)
        };
        match found {
            Ok(Some(found)) => self.enter(by, name, role, found),
            Ok(None) => Ending::Missing,
            Err(why) => Ending::Refused(why),
        }
    }

    fn by_path(&self, path: &str, places: &mut Vec<Place>) -> Result<Option<Found>, String> {
        let tried = look(self.files, self.loader.machine, path);
        places.push(Place {
            path: path.to_owned(),
            reason: Reason::Path,
            outcome: tried.outcome(),
            asked_folder: false,
        });
        match tried {
            Look::Found(file) => Ok(Some(Found {
                file,
                path: path.to_owned(),
            })),
            Look::Refused(why) => Err(why),
            Look::Missing { .. } | Look::OtherMachine => Ok(None),
        }
    }

    fn by_name(
        &mut self,
        by: usize,
        name: &str,
        role: Role,
        places: &mut Vec<Place>,
    ) -> Result<Option<Found>, String> {
        let privileged = self.loader.secure && role == Role::Preloaded;
        for (reason, list) in self.lists_before_cache(by) {
            if let Some(found) = self.in_list(reason, &list, name, privileged, places)? {
                return Ok(Some(found));
            }
        }
        let no_default = self.wishes(by).no_default;
        let cached = if privileged {
            None
        } else {
            self.loader
                .cache
                .find(name, self.loader.machine, &self.loader.hardware)
        };
        if let Some(path) = cached {
            let of_system = self
                .loader
                .system_dirs
                .iter()
                .any(|dir| path.starts_with(&format!("{}/", dir.trim_end_matches('/'))));
            let tried = look(self.files, self.loader.machine, &path);
            let used = !(no_default && of_system);
            places.push(Place {
                path: path.clone(),
                reason: Reason::Cache,
                outcome: if used { tried.outcome() } else { Outcome::Missing },
                asked_folder: false,
            });
            match tried {
                Look::Found(file) if used => return Ok(Some(Found { file, path })),
                Look::Refused(why) if used => return Err(why),
                _ => {}
            }
        }
        if no_default {
            return Ok(None);
        }
        let list = self.default.clone();
        self.in_list(Reason::Default, &list, name, privileged, places)
    }

    /// `DT_RPATH` up the chain of those who needed each other, unless the first has a `DT_RUNPATH`; `LD_LIBRARY_PATH`;
    /// the `DT_RUNPATH` of the first.
    fn lists_before_cache(&mut self, by: usize) -> Vec<(Reason, Vec<usize>)> {
        let mut lists = Vec::new();
        if self.wishes(by).runpath.is_none() {
            let mut next = Some(by);
            while let Some(object) = next {
                if let Some(list) = self.path_list(object, true) {
                    lists.push((Reason::Rpath(object), list));
                }
                next = self
                    .closure
                    .objects
                    .get(object)
                    .and_then(|object| object.loaded_by);
            }
        }
        lists.push((Reason::LibraryPath, self.library_path.clone()));
        if let Some(list) = self.path_list(by, false) {
            lists.push((Reason::Runpath(by), list));
        }
        lists
    }

    /// The folders of an object's `DT_RPATH` (which a `DT_RUNPATH` beside it annuls) or `DT_RUNPATH`.
    fn path_list(&mut self, index: usize, rpath: bool) -> Option<Vec<usize>> {
        let object = self.closure.objects.get_mut(index)?;
        let wishes = &object.wishes;
        let (path, known) = match rpath {
            true if wishes.runpath.is_some() => return None,
            true => (wishes.rpath.as_deref()?, &mut object.rpath),
            false => (wishes.runpath.as_deref()?, &mut object.runpath),
        };
        if path.is_empty() {
            return None;
        }
        let program = object.role == Role::Program;
        let list = known.get_or_insert_with(|| {
            self.folders
                .list(path, &[':'], &object.origin, program, self.loader)
        });
        Some(list.clone())
    }

    fn in_list(
        &mut self,
        reason: Reason,
        list: &[usize],
        name: &str,
        privileged: bool,
        places: &mut Vec<Place>,
    ) -> Result<Option<Found>, String> {
        let machine = self.loader.machine;
        let files = self.files;
        let mut why = String::new();
        let accept = |path: &str| match look(files, machine, path) {
            Look::Found(file) if privileged && !file.setuid => (Outcome::Missing, None, false),
            Look::Found(file) => (Outcome::Found, Some(file), false),
            Look::Missing { failed } => (Outcome::Missing, None, failed),
            Look::OtherMachine => (Outcome::OtherMachine, None, false),
            Look::Refused(reason) => {
                why = reason;
                (Outcome::Refused, None, false)
            }
        };
        let mut note = |path, outcome, asked_folder| {
            places.push(Place {
                path,
                reason,
                outcome,
                asked_folder,
            });
        };
        match self.folders.search(list, name, files, accept, &mut note) {
            Tried::Found(path, file) => Ok(Some(Found { file, path })),
            Tried::Nothing => Ok(None),
            Tried::Refused => Err(why),
        }
    }

    fn enter(&mut self, by: usize, name: &str, role: Role, found: Found) -> Ending {
        let identity = Some(found.file.identity);
        let same = |object: &Object| object.identity == identity;
        if let Some(index) = self.closure.objects.iter().position(same) {
            if let Some(object) = self.closure.objects.get_mut(index) {
                object.names.push(name.to_owned());
            }
            return Ending::SameFile(index);
        }
        let read = Image::parse(&found.file.bytes).and_then(|image| {
            if image.is_pie() || image.is_fixed() {
                return Err(Unreadable::Damaged("it is a program, not a library"));
            } else if !image.has_dynamic() {
                return Err(Unreadable::Damaged("it has no dynamic table"));
            }
            Wishes::of(&image)
        });
        let wishes = match read {
            Ok(wishes) => wishes,
            Err(error) => return Ending::Refused(error.to_string()),
        };
        let index = self.closure.objects.len();
        self.closure.objects.push(Object {
            origin: folder_of(&found.path),
            path: found.path,
            role,
            bytes: found.file.bytes,
            loaded_by: Some(by),
            needed: Vec::new(),
            identity,
            names: vec![name.to_owned()],
            wishes,
            rpath: None,
            runpath: None,
        });
        Ending::Loaded(index)
    }

    fn wishes(&self, object: usize) -> Wishes {
        self.closure
            .objects
            .get(object)
            .map(|object| object.wishes.clone())
            .unwrap_or_default()
    }

    fn origin(&self, object: usize) -> String {
        self.closure
            .objects
            .get(object)
            .map(|object| object.origin.clone())
            .unwrap_or_default()
    }

    fn path(&self, object: usize) -> String {
        self.closure
            .objects
            .get(object)
            .map(|object| object.path.clone())
            .unwrap_or_default()
    }
}

/// What the loader finds when it opens a file and looks at its header.
enum Look {
    Found(File),
    Missing { failed: bool },
    OtherMachine,
    Refused(String),
}

impl Look {
    const fn outcome(&self) -> Outcome {
        match self {
            Self::Found(_) => Outcome::Found,
            Self::Missing { .. } => Outcome::Missing,
            Self::OtherMachine => Outcome::OtherMachine,
            Self::Refused(_) => Outcome::Refused,
        }
    }
}

fn look(files: &dyn Files, machine: Machine, path: &str) -> Look {
    let file = match files.open(path) {
        Opened::File(file) => file,
        Opened::Missing => return Look::Missing { failed: false },
        Opened::Failed => return Look::Missing { failed: true },
    };
    match Image::parse(&file.bytes) {
        Ok(image) if image.machine() == machine => Look::Found(file),
        Ok(_) | Err(Unreadable::Bits32 | Unreadable::BigEndian | Unreadable::Machine(_)) => {
            Look::OtherMachine
        }
        Err(error) => Look::Refused(format!("{path}: {error}")),
    }
}

fn folder_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None => ".".to_owned(),
    }
}

//! What is to be loaded: a set of files, read and checked before any clock runs.

use std::collections::HashMap;

use super::super::{File, Unreadable};
use super::module::memory_for;
use super::{Loaded, Options, Refused, walk};

/// Files by name, one of which is to be loaded.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    pub(super) files: Vec<File<'a>>,
    pub(super) names: Vec<String>,
    pub(super) by_name: HashMap<Vec<u8>, usize>,
    pub(super) root: usize,
    pub(super) options: Options,
}

impl<'a> Plan<'a> {
    /// Reads the headers of all files and walks their tables once, so that a damaged file is refused here.
    ///
    /// # Errors
    /// When a file cannot be read, or the images together want memory out of proportion to the files.
    pub fn new(
        files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        root: &str,
        options: Options,
    ) -> Result<Self, Refused> {
        let mut plan = Self {
            files: Vec::new(),
            names: Vec::new(),
            by_name: HashMap::new(),
            root: 0,
            options,
        };
        let (mut wanted, mut bytes_of_all) = (0_u64, 0_u64);
        for (name, bytes) in files {
            let unreadable = |why| Refused::Unreadable {
                file: name.to_owned(),
                why,
            };
            let file = File::read(bytes).map_err(unreadable)?;
            check(&file).map_err(unreadable)?;
            wanted = wanted.saturating_add(file.headers.size_of_image.into());
            bytes_of_all = bytes_of_all.saturating_add(bytes.len() as u64);
            let key = library_key(name.as_bytes());
            if plan.by_name.insert(key, plan.files.len()).is_some() {
                return Err(Refused::Twice(name.to_owned()));
            }
            plan.files.push(file);
            plan.names.push(name.to_owned());
        }
        let limit = memory_for(bytes_of_all);
        if wanted > limit {
            return Err(Refused::TooLarge { wanted, limit });
        }
        plan.root = *plan
            .by_name
            .get(&library_key(root.as_bytes()))
            .ok_or_else(|| Refused::NoRoot(root.to_owned()))?;
        let kind = plan.files.get(plan.root).map(|file| file.headers.kind());
        for (file, name) in plan.files.iter().zip(&plan.names) {
            if Some(file.headers.kind()) != kind {
                return Err(Refused::Mixed {
                    file: name.clone(),
                    root: root.to_owned(),
                });
            }
        }
        Ok(plan)
    }

    /// Loads once.
    ///
    /// # Errors
    /// When the files cannot be loaded together.
    pub fn load(&self) -> Result<Loaded, Refused> {
        walk::load(self, Vec::new())
    }

    /// The files in the order in which they were given.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File<'a>)> {
        self.names.iter().map(String::as_str).zip(&self.files)
    }

    /// The name of a file by its number in that order.
    #[must_use]
    pub fn name(&self, file: usize) -> &str {
        self.names.get(file).map_or("?", String::as_str)
    }

    /// The number of the file of this name, as an importer writes it.
    #[must_use]
    pub fn find(&self, library: &[u8]) -> Option<usize> {
        self.by_name.get(&library_key(library)).copied()
    }

    /// Makes an error of what is wrong with a file.
    pub(super) fn unreadable(&self, file: usize) -> impl Fn(Unreadable) -> Refused + Copy {
        move |why| Refused::Unreadable {
            file: self.name(file).to_owned(),
            why,
        }
    }
}

/// The name under which a library is known: case does not matter, and `.dll` may be left out.
#[must_use]
pub fn library_key(name: &[u8]) -> Vec<u8> {
    let mut key = name.to_ascii_lowercase();
    if !key.contains(&b'.') {
        key.extend(b".dll");
    }
    key
}

/// What could go wrong later goes wrong here, with the file's budget.
fn check(file: &File<'_>) -> Result<(), Unreadable> {
    for section in &file.headers.sections {
        let end = u64::from(section.offset) + u64::from(section.stored);
        if end > file.bytes.len() as u64 {
            return Err(Unreadable::Damaged("a section lies beyond the end of the file"));
        }
    }
    file.imports()?;
    file.bound()?;
    file.exports()?;
    file.fixups()?;
    Ok(())
}

//! Finding the files that people wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A text file of the repository.
pub struct Source {
    /// Relative to the root, with slashes.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

impl Source {
    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "rs")
    }

    /// Its lines, numbered from 0.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate()
    }
}

/// Folders with what was made, not written.
const MADE: &[&str] = &["target", "dist", ".git"];

/// Text files by the ends of their names.
const TEXT: &[&str] = &[
    "c", "cc", "cpp", "h", "json", "lock", "md", "rs", "s", "sh", "sql", "toml", "txt",
];

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the root").to_owned()
}

/// All text files, in order of their paths. Files that are not UTF-8 are no text.
pub fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let root = root();
        let mut sources = Vec::new();
        collect(&root, &root, &mut sources);
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(
            sources.len() > 50,
            "only {} files found below {}",
            sources.len(),
            root.display()
        );
        sources
    });
    &SOURCES
}

/// The Rust files among them.
pub fn rust() -> impl Iterator<Item = &'static Source> {
    sources().iter().filter(|source| source.is_rust())
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed").flatten() {
        let path = entry.path();
        // Links could lead out of the repository, or around in it.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if !MADE.iter().any(|made| entry.file_name() == *made) {
                collect(root, &path, sources);
            }
        } else if kind.is_file() {
            let extension = path
                .extension()
                .map(|extension| extension.to_string_lossy().into_owned());
            let is_text = extension.is_none_or(|extension| TEXT.contains(&extension.as_str()));
            if let Some(text) = is_text.then(|| fs::read_to_string(&path).ok()).flatten() {
                let path = path.strip_prefix(root).expect("below the root").to_owned();
                sources.push(Source { path, text });
            }
        }
    }
}

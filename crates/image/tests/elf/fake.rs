//! Libraries of a few hundred bytes and a file system that is a table, for rules that no program of the machine shows.

use std::collections::BTreeMap;
use std::rc::Rc;

use image::elf::search::{File, Files, Opened};

const NEEDED: u64 = 1;
const STRTAB: u64 = 5;
const SONAME: u64 = 14;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;
const FLAGS_1: u64 = 0x6fff_fffb;
pub const NODEFLIB: u64 = 0x800;
pub const PIE: u64 = 0x0800_0000;

/// A file to be made.
#[derive(Clone, Default)]
pub struct Library {
    pub needed: Vec<&'static str>,
    pub soname: Option<&'static str>,
    pub rpath: Option<&'static str>,
    pub runpath: Option<&'static str>,
    pub flags_1: u64,
    /// The processor's number, when it is not x86-64.
    pub machine: Option<u16>,
}

pub fn needs(needed: &[&'static str]) -> Library {
    Library {
        needed: needed.to_vec(),
        ..Library::default()
    }
}

impl Library {
    /// The file: header, two program headers, the dynamic table, the texts.
    pub fn bytes(&self) -> Vec<u8> {
        let mut strings = vec![0];
        let mut text = |text: &str| {
            let at = strings.len() as u64;
            strings.extend(text.as_bytes());
            strings.push(0);
            at
        };
        let mut entries: Vec<(u64, u64)> = self.needed.iter().map(|name| (NEEDED, text(name))).collect();
        let texts = [
            (SONAME, self.soname),
            (RPATH, self.rpath),
            (RUNPATH, self.runpath),
        ];
        entries.extend(
            texts
                .iter()
                .filter_map(|(tag, value)| Some((*tag, text((*value)?)))),
        );
        entries.push((FLAGS_1, self.flags_1));
        let dynamic = 64 + 2 * 56;
        let strings_at = dynamic + 16 * (entries.len() as u64 + 2);
        entries.extend([(STRTAB, strings_at), (0, 0)]);
        let end = strings_at + strings.len() as u64;

        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend(3_u16.to_le_bytes());
        bytes.extend(self.machine.unwrap_or(62).to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        for word in [0, 64, 0_u64] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(0_u32.to_le_bytes());
        for half in [64, 56, 2, 64, 0, 0_u16] {
            bytes.extend(half.to_le_bytes());
        }
        for (kind, at, size) in [(1_u32, 0, end), (2, dynamic, strings_at - dynamic)] {
            bytes.extend(kind.to_le_bytes());
            bytes.extend(4_u32.to_le_bytes());
            for word in [at, at, at, size, size, 4096] {
                bytes.extend(word.to_le_bytes());
            }
        }
        for (tag, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(strings);
        bytes
    }
}

/// A file system of a few files. A path ending in a slash is an empty folder; `alias` makes two paths one file.
#[derive(Default)]
pub struct Table {
    files: BTreeMap<String, (u64, Vec<u8>)>,
    folders: Vec<String>,
}

impl Table {
    pub fn with(mut self, path: &str, library: &Library) -> Self {
        let inode = self.files.len() as u64 + 1;
        self.files.insert(path.to_owned(), (inode, library.bytes()));
        self
    }

    pub fn with_bytes(mut self, path: &str, bytes: &[u8]) -> Self {
        let inode = self.files.len() as u64 + 1;
        self.files.insert(path.to_owned(), (inode, bytes.to_vec()));
        self
    }

    pub fn alias(mut self, path: &str, other: &str) -> Self {
        let file = self.files[other].clone();
        self.files.insert(path.to_owned(), file);
        self
    }

    pub fn folder(mut self, path: &str) -> Self {
        self.folders.push(path.to_owned());
        self
    }
}

impl Files for Table {
    fn open(&self, path: &str) -> Opened {
        match self.files.get(path) {
            Some((inode, bytes)) => Opened::File(File {
                identity: (1, *inode),
                bytes: Rc::new(bytes.clone()),
                setuid: path.contains("privileged"),
            }),
            None => Opened::Missing,
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        let path = format!("{}/", path.trim_end_matches('/'));
        self.files.keys().any(|file| file.starts_with(&path))
            || self
                .folders
                .iter()
                .any(|folder| format!("{folder}/").starts_with(&path))
    }
}

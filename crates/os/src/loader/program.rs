//! What a program file is: the answer, and the way to it through scripts.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::bounded::Bounded;
use super::{elf, imp, pe, script};

/// What kind of file a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// A program of Linux and its relatives.
    Elf,
    /// A program of Windows.
    Pe,
    /// A text that names its interpreter in its first line. Everything else in [`Program`] describes the interpreter,
    /// because that is the program that runs.
    Script {
        /// The program that finally runs.
        interpreter: PathBuf,
        /// Every file on the way to it, the script first and the interpreter last.
        chain: Vec<PathBuf>,
    },
    /// Anything else. A shell may still run it as a script of its own.
    Other,
}

/// How a program gets its libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// It has none: everything is in the file, at fixed addresses. Nothing can be preloaded.
    Static,
    /// It has none and relocates itself at start. Nothing can be preloaded.
    StaticPie,
    /// A loader maps its libraries.
    Dynamic {
        /// The loader (`PT_INTERP`); on Windows the system itself.
        interpreter: PathBuf,
    },
    /// It is a library, not a program.
    Library,
    /// Not known for this format.
    Unknown,
}

/// Which C library a program is made for. A preloaded library has to be made for the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Libc {
    /// The GNU C library.
    Glibc,
    /// musl.
    Musl,
    /// One that we do not know, or no telling which.
    Unknown,
    /// None: a program without C library, such as one of Go's own linker.
    None,
}

/// A program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The kind of file.
    pub format: Format,
    /// 32 or 64; 0 for [`Format::Other`].
    pub bits: u8,
    /// The machine type as the rest of the world spells it: `x86_64`, `aarch64`, `i386`, …; empty for [`Format::Other`].
    pub machine: String,
    /// How it gets its libraries.
    pub linkage: Linkage,
    /// The C library it is made for.
    pub libc: Libc,
    /// It runs with its owner's rights.
    pub setuid: bool,
    /// It runs with its group's rights.
    pub setgid: bool,
    /// It gains capabilities (capabilities(7), "File capabilities").
    pub file_caps: bool,
    /// For this user the loader will run in secure-execution mode, which ignores `LD_PRELOAD` and `GLIBC_TUNABLES`
    /// (ld.so(8)): one of the three above holds and gives rights that the user has not got anyway.
    pub secure: bool,
    /// It was made by Go, whose memory management does not use the C library's heap.
    pub go: bool,
    /// The heap that it brings itself, found by symbols, needed libraries, or, in a program without
    /// symbols, by texts that the heap leaves in it. Not found does not prove that there is none.
    pub own_heap: Option<String>,
    /// The libraries that it names itself (`DT_NEEDED`, import table), in its order.
    pub needed: Vec<String>,
}

impl Program {
    pub(super) fn other() -> Self {
        Self {
            format: Format::Other,
            bits: 0,
            machine: String::new(),
            linkage: Linkage::Unknown,
            libc: Libc::Unknown,
            setuid: false,
            setgid: false,
            file_caps: false,
            secure: false,
            go: false,
            own_heap: None,
            needed: Vec::new(),
        }
    }
}

/// Why nothing can be said about a program file.
#[derive(Debug, thiserror::Error)]
pub enum ClassifyError {
    /// The file cannot be opened or read.
    #[error("read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is a folder, a device, a pipe.
    #[error("read {}: it is not a regular file", path.display())]
    NotAFile {
        /// What was given.
        path: PathBuf,
    },
    /// The file claims to be a program and is damaged.
    #[error("understand {}: {what}; the file is damaged or not a program", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A script's interpreter cannot be found.
    #[error("find the interpreter {interpreter:?} that the first line of {} asks for", script.display())]
    NoInterpreter {
        /// The script.
        script: PathBuf,
        /// The interpreter as the script names it.
        interpreter: String,
    },
    /// Scripts whose interpreters are scripts, deeper than the system follows.
    #[error("follow the interpreters of {}: more than {MAX_SCRIPTS} scripts in a row, which the system refuses too", path.display())]
    TooDeep {
        /// The first script.
        path: PathBuf,
    },
}

/// The kernel gives up (`ELOOP`) after five rewritings of the command (execve(2), "Interpreter scripts").
const MAX_SCRIPTS: usize = 5;

pub(super) fn classify(path: &Path) -> Result<Program, ClassifyError> {
    let mut chain = vec![path.to_owned()];
    loop {
        let current = chain.last().map_or(path, PathBuf::as_path).to_owned();
        let file = open(&current)?;
        let unreadable = |source| ClassifyError::Unreadable {
            path: current.clone(),
            source,
        };
        let head = file.head(script::MAX_LINE).map_err(unreadable)?;
        let Some(line) = script::shebang(head) else {
            let mut program = classify_binary(&file, &current)?;
            if chain.len() > 1 {
                program.format = Format::Script {
                    interpreter: current,
                    chain,
                };
            }
            return Ok(program);
        };
        if chain.len() > MAX_SCRIPTS {
            return Err(ClassifyError::TooDeep {
                path: path.to_owned(),
            });
        }
        let missing = |interpreter| ClassifyError::NoInterpreter {
            script: current.clone(),
            interpreter,
        };
        chain.extend(line.resolve().map_err(missing)?);
    }
}

fn classify_binary(file: &Bounded, path: &Path) -> Result<Program, ClassifyError> {
    let head = file.head(4).map_err(|source| ClassifyError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let parsed = if head == object::elf::ELFMAG {
        elf::read(file)
    } else if head.starts_with(b"MZ") {
        pe::read(file)
    } else {
        Ok(Program::other())
    };
    let mut program = parsed.map_err(|what| ClassifyError::Malformed {
        path: path.to_owned(),
        what,
    })?;
    imp::privileges(path, &mut program);
    Ok(program)
}

fn open(path: &Path) -> Result<Bounded, ClassifyError> {
    let unreadable = |source| ClassifyError::Unreadable {
        path: path.to_owned(),
        source,
    };
    // Asked before opening: opening a pipe would wait for a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(ClassifyError::NotAFile {
            path: path.to_owned(),
        });
    }
    Ok(Bounded::new(File::open(path).map_err(unreadable)?))
}

//! The proof that a bound copy is, loaded, the same as its original: both are started, stopped when all is relocated and nothing
//! has run, and compared word by word.

use std::path::{Path, PathBuf};
use std::time::Duration;

use image::elf::verify::{Difference, Memory, Object, Region, Sides, Value, What, compare_loaded, kind_name};
use os::process::{LaunchError, Spec, Standing};
use record::format::bound::{Document, Verified};

use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure, UNSUPPORTED};

/// Loading takes longer than this only where something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

struct Process(Standing);

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.0.read(address, into).is_ok()
    }
}

impl Process {
    fn start(program: &Path) -> Result<Self, Failure> {
        let mut spec = Spec::new(program);
        spec.timeout = Some(PATIENCE);
        // Functions that are bound late are bound now, so that they can be compared.
        const WISHES: [&str; 4] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GLIBC_TUNABLES"];
        spec.env
            .retain(|(name, _)| WISHES.iter().all(|wish| name != wish));
        spec.env.push(("LD_BIND_NOW".into(), "1".into()));
        let started = Standing::start(spec);
        let failed = |error: &LaunchError| {
            let code = if matches!(error, LaunchError::Unsupported(_)) {
                UNSUPPORTED
            } else {
                COMMAND_FAILED
            };
            Failure::new(
                code,
                format!(
                    "look into {} when it is loaded: {error}; --no-verify does without",
                    program.display()
                ),
            )
        };
        started.map(Self).map_err(|error| failed(&error))
    }

    /// Its objects that are files: the loader's name for each, the file that is mapped, and what was added to the addresses. The
    /// program has no name.
    fn objects(&self) -> Vec<Loaded> {
        let files = self.0.objects().iter().filter(|object| {
            let name = &object.name;
            name.as_os_str().is_empty() || name.is_absolute()
        });
        files
            .map(|object| Loaded {
                name: object.name.clone(),
                file: self.0.file_of(object).map(Path::to_owned),
                bias: object.bias,
            })
            .collect()
    }

    /// The kernel's own library: its address and its size.
    fn kernels(&self) -> (u64, u64) {
        let mut mappings = self.0.mappings().iter();
        let range = mappings.find(|range| range.name == Path::new("[vdso]"));
        range.map_or((0, 0), |range| (range.start, range.end - range.start))
    }
}

/// An object in a process.
struct Loaded {
    name: PathBuf,
    file: Option<PathBuf>,
    bias: u64,
}

/// One file of the program, as both processes have it.
struct Pair {
    name: String,
    files: [Vec<u8>; 2],
    biases: [u64; 2],
    is_loader: bool,
}

/// As [`verified`], of a copy that is not in its place yet; a difference is a failure.
pub fn equal(document: &Document, copy: &Path) -> Result<Verified, Failure> {
    let verified = compared(document, copy)?;
    match verified.first.first() {
        None => Ok(verified),
        Some(first) => Err(Failure::new(
            CHECK_FAILED,
            format!(
                "bind {}: loaded, the copy differs from the original in {} places, so it was removed; the first: {first}",
                document.program, verified.differences
            ),
        )),
    }
}

/// Compares the loaded copy with the loaded original.
pub fn verified(document: &Document) -> Result<Verified, Failure> {
    compared(document, Path::new(&document.copy))
}

fn compared(document: &Document, copy: &Path) -> Result<Verified, Failure> {
    let processes = [
        Process::start(Path::new(&document.program))?,
        Process::start(copy)?,
    ];
    if processes[1].0.exe() != copy {
        return Err(Failure::new(
            CHECK_FAILED,
            format!(
                "verify {}: it runs the original in its place; UNDERHOOD_VERBOSE=1 makes it say why, and --refresh makes a new copy",
                document.copy
            ),
        ));
    }
    let pairs = pairs(document, copy, &processes)?;
    let objects: Vec<Object<'_>> = pairs
        .iter()
        .map(|pair| Object {
            name: &pair.name,
            files: [&pair.files[0], &pair.files[1]],
            biases: pair.biases,
            is_loader: pair.is_loader,
        })
        .collect();
    let kernels = processes.each_ref().map(Process::kernels);
    let vectors = processes.each_ref().map(|process| process.0.vectors());
    let region = |name, starts, size| Region { name, starts, size };
    let regions = [
        region("[vdso]", kernels.map(|kernel| kernel.0), kernels[0].1),
        region(
            "[arguments]",
            vectors.map(|vector| vector.start),
            vectors[0].end - vectors[0].start,
        ),
    ];
    let sides = Sides {
        memories: [&processes[0], &processes[1]],
        objects: &objects,
        regions: &regions,
    };
    let report = compare_loaded(&sides)
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("verify {}: {error}", document.copy)))?;
    Ok(Verified {
        words: report.all_words(),
        bytes: report.bytes,
        differences: report.difference_count,
        first: report.differences.iter().map(sentence).collect(),
    })
}

/// The files of both processes, which load them in the same order.
fn pairs(document: &Document, program: &Path, processes: &[Process; 2]) -> Result<Vec<Pair>, Failure> {
    let [originals, copies] = processes.each_ref().map(Process::objects);
    let other = |why: String| Failure::new(CHECK_FAILED, format!("verify {}: {why}", document.copy));
    if originals.len() != copies.len() {
        return Err(other(format!(
            "it loads {} files, and the original {}",
            copies.len(),
            originals.len()
        )));
    }
    let mut pairs = Vec::new();
    for (index, (original, copy)) in originals.iter().zip(&copies).enumerate() {
        let mut objects = document.objects.iter();
        let object = if index == 0 {
            objects.next()
        } else {
            objects.find(|object| Path::new(&object.file) == original.name)
        };
        let object = object.ok_or_else(|| {
            other(format!(
                "the original loads {}, which it did not when it was bound",
                original.name.display()
            ))
        })?;
        let file = match &object.copy {
            Some(_) if index == 0 => program,
            Some(copy) => Path::new(copy),
            None => Path::new(&object.file),
        };
        for (loaded, wanted) in [(original, Path::new(&object.file)), (copy, file)] {
            let real = std::fs::canonicalize(wanted).ok();
            if loaded.file != real {
                let what = loaded.file.as_deref().unwrap_or(&loaded.name);
                return Err(other(format!(
                    "{} is loaded in the place of {}",
                    what.display(),
                    wanted.display()
                )));
            }
        }
        let is_loader = document
            .objects
            .get(1)
            .is_some_and(|loader| loader.file == object.file);
        pairs.push(Pair {
            name: object.file.clone(),
            files: [read(Path::new(&object.file))?, read(file)?],
            biases: [original.bias, copy.bias],
            is_loader: index != 0 && is_loader,
        });
    }
    Ok(pairs)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("read {}: {error}", path.display())))
}

/// A difference in words.
fn sentence(difference: &Difference) -> String {
    let what = match &difference.what {
        What::Word(kind) => format!("the word that a relocation writes ({})", kind_name(*kind)),
        What::Relocation(kind) => format!("a relocation ({})", kind_name(*kind)),
        What::Bytes => "bytes".to_owned(),
        What::NotLoaded => "bytes that are not loaded".to_owned(),
        What::Field { table, field, index } => format!("{field} of entry {index} of {table}"),
        What::Table(table) => format!("the table {table}"),
    };
    format!(
        "{} at {:#x}: {what} is {} in the copy, {} in the original.",
        difference.object,
        difference.offset,
        shown(&difference.copy),
        shown(&difference.original)
    )
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{number:#x}"),
        Value::Inside { object, offset } => format!("{offset:#x} in {object}"),
        Value::Text(text) => format!("{text:?}"),
        Value::Absent => "nothing".to_owned(),
    }
}

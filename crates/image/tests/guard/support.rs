//! The template, small programs that have a guard, and what their plans say when all is as it should be.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use image::elf::guard::{Identity, Loader, Plan, fill};
use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian as LE, Object, ObjectSymbol};
use tempfile::TempDir;

/// Where the guards of these tests lie.
pub const BASE: u64 = 0x1200_0000_0000;

/// The interpreter of every program that is not bound.
pub const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// The template: the one that is named in UNDERHOOD_GUARD, or built here, once.
pub fn template() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let path = std::env::var_os("UNDERHOOD_GUARD").map_or_else(build, PathBuf::from);
        fs::read(path).expect("the template can be read")
    })
}

fn build() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guard");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guard/Cargo.toml");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the guard does not build");
    target.join("release/underhood-guard")
}

/// What tells one version of a file from another.
pub fn identity(path: impl AsRef<Path>) -> Identity {
    let metadata = fs::metadata(path).expect("the file is there");
    Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec() as u32),
    }
}

/// `AT_HWCAP` and `AT_HWCAP2`.
fn hwcap() -> (u64, u64) {
    let vector = fs::read("/proc/self/auxv").expect("readable");
    let value = |kind: u64| {
        vector
            .chunks_exact(16)
            .find(|entry| entry[..8] == kind.to_le_bytes())
            .map_or(0, |entry| u64::from_le_bytes(entry[8..].try_into().unwrap()))
    };
    (value(16), value(26))
}

/// A folder that other users can enter.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Compiles a program or library from `programs/`.
pub fn compile(source: &str, to: &Path, flags: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/guard/programs")
        .join(source);
    let output = Command::new("gcc")
        .arg("-o")
        .args([to, &source])
        .args(["-O1", "-Wall", "-Wextra"])
        .args(flags)
        .output()
        .expect("gcc starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A program, the same program with a guard, and a plan that fits.
pub struct Guarded {
    pub folder: TempDir,
    pub original: PathBuf,
    pub copy: PathBuf,
    pub guard: PathBuf,
    pub plan: Plan,
}

impl Guarded {
    /// `probe.c`, not filled yet.
    pub fn probe() -> Self {
        let folder = folder();
        let [original, copy, guard] = ["original", "copy", "guard"].map(|name| folder.path().join(name));
        compile("probe.c", &original, &["-no-pie"]);
        let interpreter = format!("-Wl,--dynamic-linker={}", guard.display());
        compile("probe.c", &copy, &["-no-pie", &interpreter]);
        let plan = plan(&original, &copy);
        Self {
            folder,
            original,
            copy,
            guard,
            plan,
        }
    }

    /// The same with its guard.
    pub fn filled() -> Self {
        let probe = Self::probe();
        probe.fill();
        probe
    }

    /// Writes the guard of the plan.
    pub fn fill(&self) {
        let filled = fill(template(), BASE, &self.plan).expect("a plan that fits");
        write_program(&self.guard, &filled.bytes);
    }

    /// Runs the copy in an environment of its own.
    pub fn run(&self, variables: &[(&str, &str)]) -> Output {
        run(&self.copy, variables)
    }
}

pub fn run(program: &Path, variables: &[(&str, &str)]) -> Output {
    Command::new(program)
        .args(["one", "two words", ""])
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .expect("it starts")
}

/// Writes a file that can be executed, under another name first: nobody may be running from the old one.
pub fn write_program(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("new");
    fs::write(&new, bytes).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(new, path).unwrap();
}

/// A plan for a copy in which nothing is to be filled.
pub fn plan(original: &Path, copy: &Path) -> Plan {
    let real = fs::canonicalize(LOADER).unwrap();
    let bytes = fs::read(&real).unwrap();
    let watched = [original, copy, Path::new("/etc/passwd"), &real];
    Plan {
        original: original.display().to_string(),
        loader: Loader::read(&real.display().to_string(), identity(&real), &bytes)
            .expect("an ordinary loader"),
        watched: watched
            .iter()
            .map(|path| (path.display().to_string(), identity(path)))
            .collect(),
        absent: vec!["/no/such/file".into(), "/etc/passwd/below-a-file".into()],
        ranges: vec![(BASE + 0x1000_0000, 0x100_0000), (BASE + 0x2000_0000, 4096)],
        hwcap: hwcap(),
        debug: debug_value(copy),
        ..Plan::default()
    }
}

/// Where the value of `DT_DEBUG` is in a program at fixed addresses.
fn debug_value(program: &Path) -> u64 {
    let bytes = fs::read(program).unwrap();
    let header = elf::FileHeader64::<LE>::parse(&*bytes).unwrap();
    let segments = header.program_headers(LE, &*bytes).unwrap();
    let (segment, table) = segments
        .iter()
        .find_map(|segment| Some((segment, segment.dynamic(LE, &*bytes).unwrap()?)))
        .expect("a dynamic table");
    let index = table
        .iter()
        .position(|entry| entry.tag(LE) == elf::DT_DEBUG)
        .expect("DT_DEBUG");
    segment.p_vaddr(LE) + 16 * index as u64 + 8
}

/// The address of the dynamic table of a file.
pub fn dynamic_address(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    let header = elf::FileHeader64::<LE>::parse(&*bytes).unwrap();
    let segments = header.program_headers(LE, &*bytes).unwrap();
    let segment = segments
        .iter()
        .find(|segment| segment.p_type(LE) == elf::PT_DYNAMIC);
    segment.expect("a dynamic table").p_vaddr(LE)
}

/// A symbol of a library: its value, and whether it is a resolver.
pub fn symbol(library: &Path, name: &str) -> Option<(u64, bool)> {
    let bytes = fs::read(library).unwrap();
    let file = ElfFile64::<LE>::parse(&*bytes).unwrap();
    let symbol = file
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(name) && !symbol.is_undefined())?;
    let ifunc = symbol.elf_symbol().st_type() == elf::STT_GNU_IFUNC;
    Some((symbol.address(), ifunc))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Which program printed this, and everything else that it said.
pub fn seen(output: &Output) -> (String, String) {
    assert!(output.status.success(), "{output:?}");
    split(&text(&output.stdout))
}

/// The same for what was written to a file.
pub fn split(said: &str) -> (String, String) {
    assert!(said.ends_with("end\n"), "{said}");
    let (first, rest) = said.split_once('\n').unwrap();
    (first.to_owned(), rest.to_owned())
}

//! What the tests of process launching share: the launcher program, small C programs, and a way to see
//! whether anything is left running.

use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use underhood_os::process::{Launcher, Outcome, Sink, Spec};

/// The launcher: the one that `UNDERHOOD_LAUNCHER` names, or built here, into a folder of the tests' own so
/// that the running cargo is not waited for.
pub fn launcher_path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(path) = std::env::var_os("UNDERHOOD_LAUNCHER") {
            return path.into();
        }
        let target = scratch().join("launcher");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launcher/Cargo.toml");
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(&target)
            .status()
            .expect("cargo starts");
        assert!(status.success(), "the launcher does not build");
        target.join("release/underhood-launcher")
    })
}

/// A launcher of the test's own.
pub fn launcher() -> Launcher {
    Launcher::start(launcher_path()).expect("the launcher starts")
}

/// A folder for what the tests build; cargo made it.
pub fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// A compiled program, deleted when dropped.
pub struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    /// Compiles `programs/NAME.c`; `flags` are added to the compiler's.
    pub fn compile(name: &str, flags: &[&str]) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/process/programs")
            .join(name);
        let program = Self { folder: folder() };
        let status = Command::new("cc")
            .args(["-O2", "-o"])
            .arg(program.path())
            .arg(source.with_extension("c"))
            .args(flags)
            .status()
            .expect("a C compiler is there");
        assert!(status.success(), "{name}.c does not compile");
        program
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }
}

/// The smallest program.
pub fn tiny() -> Program {
    Program::compile("tiny", &["-static", "-nostdlib"])
}

/// A temporary folder, on a file system from which programs can be executed.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(scratch()).expect("the build folder can be written")
}

/// A file with this text and mode.
///
/// Another process writes it: a child that some other thread makes at the same moment would inherit our
/// descriptor, and a file that is open for writing cannot be executed.
pub fn file(folder: &Path, name: &str, text: &[u8], mode: u32) -> PathBuf {
    let path = folder.join(name);
    let mut tee = Command::new("tee")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("tee starts");
    tee.stdin
        .take()
        .expect("it was asked for")
        .write_all(text)
        .expect("tee reads");
    assert!(tee.wait().expect("tee ends").success());
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a file of ours can be changed");
    path
}

/// A shell script to run.
pub fn sh(script: &str) -> Spec {
    Spec::new("/bin/sh").args(["-c", script])
}

/// Runs it and returns what it wrote, too.
pub fn output(launcher: &mut Launcher, mut spec: Spec) -> (Outcome, Vec<u8>) {
    let mut file = tempfile::tempfile().expect("the temporary folder can be written");
    spec.stdout = Sink::File(file.try_clone().expect("a descriptor is free"));
    let outcome = launcher.run(&spec).expect("it can be run");
    let mut text = Vec::new();
    file.rewind().expect("a file can be rewound");
    file.read_to_end(&mut text).expect("and read");
    (outcome, text)
}

/// Processes whose command line contains `mark`, except ourselves.
pub fn running(mark: &str) -> Vec<u32> {
    let ours = std::process::id();
    let entries = fs::read_dir("/proc").expect("/proc is mounted");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|&pid: &u32| {
        pid != ours
            && fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.windows(mark.len()).any(|part| part == mark.as_bytes()))
    })
    .collect()
}

/// Waits until nothing with `mark` in its command line runs any more.
pub fn assert_gone(mark: &str, within: Duration) {
    let limit = Instant::now() + within;
    while !running(mark).is_empty() {
        assert!(Instant::now() < limit, "still running: {:?}", running(mark));
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! What the tests of the preloadable heaps share: the built libraries, small C and C++ programs, and running the one
//! with the other.
//!
//! The libraries come from the folder in `UNDERHOOD_SHIM_DIR` or are built here, once per test process, in the
//! release profile of the same target folder. The programs are in `programs/`; each prints `ok` when all is well.
//! Linux only; needs gcc, g++ and binutils.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::sync::LazyLock;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;

use tempfile::TempDir;

/// The heaps that replace the system's.
pub const REPLACING: [&str; 3] = ["mimalloc", "jemalloc", "snmalloc"];

/// The heaps that forward to the system's.
pub const FORWARDING: [&str; 3] = ["single_lock", "single_lock_spin", "single_lock_kernel"];

/// Every library, by the part of its name after `libunderhood_`.
pub fn all_shims() -> Vec<&'static str> {
    REPLACING
        .into_iter()
        .chain(FORWARDING)
        .chain(["selector"])
        .collect()
}

/// How long a program may take before it is ended: it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

static TEMPORARY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("create a temporary folder"));

/// Ways to run a program: with nothing preloaded, with each heap, and with the selector and each choice.
pub fn ways() -> Vec<Way> {
    let mut ways = vec![Way::plain()];
    ways.extend(REPLACING.into_iter().chain(FORWARDING).map(Way::heap));
    ways.extend(
        ["system", "mimalloc", "jemalloc", "snmalloc"].map(|heap| Way::selected(&format!("*={heap}"))),
    );
    ways
}

/// One way to run a program.
#[derive(Clone, Debug)]
pub struct Way {
    /// A name for messages.
    pub name: String,
    /// The heap that serves the program: `system`, or one of [`REPLACING`] or [`FORWARDING`].
    pub heap: String,
    environment: Vec<(String, String)>,
}

impl Way {
    /// Nothing is preloaded.
    pub fn plain() -> Self {
        Self {
            name: "plain".into(),
            heap: "system".into(),
            environment: Vec::new(),
        }
    }

    /// A heap is preloaded.
    pub fn heap(heap: &str) -> Self {
        let path = shim(heap).display().to_string();
        Self {
            name: heap.into(),
            heap: heap.into(),
            environment: vec![("LD_PRELOAD".into(), path)],
        }
    }

    /// The selector is preloaded, with rules. The heap is taken from the last rule.
    pub fn selected(rules: &str) -> Self {
        let heap = rules.rsplit('=').next().unwrap_or_default().to_owned();
        let name = format!("selector {rules:?}");
        Self {
            name,
            heap,
            ..Self::heap("selector")
        }
        .with("UNDERHOOD_HEAP_SELECT", rules)
    }

    /// The same with one more variable in the environment.
    #[must_use]
    pub fn with(mut self, variable: &str, value: &str) -> Self {
        self.environment.push((variable.into(), value.into()));
        self
    }

    /// True when another heap than the system's serves the program.
    pub fn replaces(&self) -> bool {
        REPLACING.contains(&self.heap.as_str())
    }

    /// Runs a program to its end.
    ///
    /// # Panics
    /// When the program cannot be started or does not end.
    pub fn run(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command
            .env_remove("UNDERHOOD_HEAP_SELECT")
            .args(["--signal=KILL", &PATIENCE.as_secs().to_string()]);
        command.arg("env").args(
            self.environment
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        command
            .arg(program)
            .args(arguments)
            .output()
            .expect("start a program")
    }

    /// Runs a program that must end well and silently, and gives what it printed.
    ///
    /// # Panics
    /// When it does not.
    pub fn output_of(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> String {
        let program = program.as_ref();
        let output = self.run(program, arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let what = format!("{} {arguments:?} under {}", program.display(), self.name);
        assert!(
            output.status.success(),
            "{what}: {}: {text} {errors}",
            output.status
        );
        assert_eq!(errors, "", "{what} wrote on standard error");
        text
    }
}

/// The path of a preloadable library.
pub fn shim(heap: &str) -> PathBuf {
    SHIM_FOLDER.join(format!("libunderhood_{heap}.so"))
}

/// The folder of the libraries.
pub static SHIM_FOLDER: LazyLock<PathBuf> = LazyLock::new(|| match std::env::var_os("UNDERHOOD_SHIM_DIR") {
    Some(folder) => PathBuf::from(folder),
    None => build_shims(),
});

fn build_shims() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a package has a workspace");
    // target/debug/deps/test-program
    let program = std::env::current_exe().expect("know the test program");
    let target = program
        .ancestors()
        .nth(3)
        .expect("test programs lie in the target folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(workspace)
        .args(["build", "--release", "--locked", "--quiet", "--target-dir"])
        .arg(target);
    for heap in all_shims() {
        command.args(["-p", &format!("underhood-shim-{heap}")]);
    }
    let status = command.status().expect("start cargo");
    assert!(status.success(), "build the preloadable heaps: {status}");
    target.join("release")
}

/// Compiles a program or, when the flags say `-shared`, a library from `programs/`; once per set of flags.
///
/// # Panics
/// When the compiler fails.
pub fn compile(source: &str, flags: &[&str]) -> PathBuf {
    static BUILT: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);
    let key = format!("{source} {flags:?}");
    let mut built = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(path) = built.get(&key) {
        return path.clone();
    }
    let path = TEMPORARY
        .path()
        .join(format!("{}-{}", source.replace('.', "-"), built.len()));
    let compiler = if source.ends_with(".cpp") { "g++" } else { "gcc" };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let output = Command::new(compiler)
        .current_dir(programs)
        // Without -fno-builtin the compiler removes pairs of malloc and free.
        .args(["-O1", "-fno-builtin", "-w", "-pthread", "-o"])
        .arg(&path)
        .arg(source)
        .args(flags)
        .output()
        .expect("start the compiler");
    assert!(
        output.status.success(),
        "compile {source}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    built.insert(key, path.clone());
    path
}

/// A folder that is removed when the test process ends well.
pub fn temporary_folder(name: &str) -> PathBuf {
    let folder = TEMPORARY.path().join(name);
    fs::create_dir_all(&folder).expect("create a folder");
    folder
}

/// Runs a tool of binutils on a library, and gives its lines.
///
/// # Panics
/// When the tool fails.
pub fn inspect(tool: &str, arguments: &[&str], library: &Path) -> Vec<String> {
    let output = Command::new(tool)
        .args(arguments)
        .arg(library)
        .output()
        .expect("start a tool of binutils");
    assert!(output.status.success(), "{tool} {}", library.display());
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Says that a test did not run and why, in the form that `cargo xtask test` counts.
#[expect(clippy::print_stderr, reason = "a skipped test must be noticed")]
pub fn skip(what: &str, reason: &str) {
    eprintln!("SKIPPED: {what}: {reason}");
}

/// Prints a figure that a test has measured.
#[expect(
    clippy::print_stdout,
    reason = "figures are for the person who runs the tests"
)]
pub fn say(figure: &str) {
    println!("{figure}");
}

/// True when a command can be started.
pub fn exists(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok()
}

/// The time that a closure takes.
pub fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

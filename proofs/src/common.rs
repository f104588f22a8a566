//! What the proofs share: programs of known cost, busy neighbours that end with us, arms made of them.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};

use anyhow::{Context, Result, bail};
use measure::command::launch::{Command, Expectation, ProcessRunner};
use os::process::Launcher;
use record::model::End;
use tempfile::TempDir;

/// A folder with the programs of `proofs/programs`, built with the system's compiler; gone when dropped.
pub struct Programs {
    folder: TempDir,
}

impl Programs {
    /// An empty folder.
    pub fn new() -> Result<Self> {
        Ok(Self {
            folder: TempDir::new().context("make a temporary folder")?,
        })
    }

    /// The program of that name, built on first use.
    pub fn get(&self, name: &str) -> Result<PathBuf> {
        let program = self.folder.path().join(name);
        if program.exists() {
            return Ok(program);
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("programs")
            .join(format!("{name}.c"));
        let mut compiler = Process::new("cc");
        compiler
            .arg("-O2")
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .arg("-lpthread");
        if name == "tiny" {
            compiler.args(["-static", "-nostdlib"]);
        }
        if !compiler
            .status()
            .context("run cc; install build-essential")?
            .success()
        {
            bail!("build {}", source.display());
        }
        Ok(program)
    }

    /// The folder itself, for files of a proof.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Programs that do nothing but burn time; ended when dropped.
pub struct Busy(Vec<Child>);

impl Busy {
    /// So many of them.
    pub fn start(programs: &Programs, count: usize) -> Result<Self> {
        let spin = programs.get("spin")?;
        let mut busy = Self(Vec::new());
        for _ in 0..count {
            busy.0.push(
                Process::new(&spin)
                    .arg("forever")
                    .stdin(Stdio::null())
                    .spawn()
                    .context("start a busy loop")?,
            );
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that is gone already is what we want.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A program in C that measures once for every line that it reads, and answers with nanoseconds; ends when dropped.
pub struct Loop {
    child: Child,
    to: Option<ChildStdin>,
    from: Lines<BufReader<ChildStdout>>,
}

impl Loop {
    /// Starts it.
    pub fn start(program: &Path, args: &[&str]) -> Result<Self> {
        let mut child = Process::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        let to = child.stdin.take();
        let from = child.stdout.take().context("read from the loop")?;
        Ok(Self {
            child,
            to,
            from: BufReader::new(from).lines(),
        })
    }

    /// One measurement.
    pub fn next_ns(&mut self) -> Result<f64> {
        writeln!(self.to.as_mut().context("write to the loop")?)?;
        let line = self.from.next().context("read from the loop")??;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.to.take());
        let _ = self.child.wait();
    }
}

/// A command that must succeed.
pub fn command(program: &Path, args: &[&str], cpus: Option<Vec<usize>>) -> Command {
    Command {
        cpus,
        expectation: Expectation {
            end: Some(End::Exited(0)),
            output: None,
        },
        ..Command::new(program.to_owned(), args.iter().map(Into::into).collect())
    }
}

/// A runner of these commands.
pub fn runner(arms: Vec<Command>) -> Result<ProcessRunner> {
    Ok(ProcessRunner::new(launcher()?, arms, None))
}

/// The launcher that the tool uses.
pub fn launcher() -> Result<Launcher> {
    Launcher::start(&bundle::unpack("launcher")?).context("start the launcher")
}

/// The processor that the tool binds single-threaded commands to.
pub fn last_cpu() -> Result<usize> {
    os::topology::allowed()?.iter().last().context("find a processor")
}

/// The tool's own binary, beside this one.
pub fn underhood() -> Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("underhood");
    if !beside.exists() {
        bail!("find {}; build it with cargo build --release", beside.display());
    }
    Ok(beside)
}

/// Runs the tool and reads the JSON that it prints.
pub fn tool_json(arguments: &[&str]) -> Result<serde_json::Value> {
    let output = Process::new(underhood()?)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("run underhood")?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("read the JSON of underhood {}", arguments.join(" ")))
}

/// A count scaled from the full form, at least one.
pub fn scaled(full: usize, scale: f64) -> usize {
    ((full as f64 * scale).round() as usize).max(1)
}

//! Running other programs: echoed, with output that is shown while it is also kept.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, ensure};

/// What a finished program left.
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output; bytes that are not UTF-8 replaced.
    pub stdout: String,
}

/// Runs the command, showing its output as it comes, and returns its standard output too.
pub fn run(command: &mut Command) -> Result<Finished> {
    watch(command, |line| std::io::stdout().write_all(line))
}

/// Runs the command and returns its standard output, which may be long, without showing it.
pub fn run_quietly(command: &mut Command) -> Result<Finished> {
    watch(command, |_| Ok(()))
}

fn watch(command: &mut Command, mut show: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<Finished> {
    println!("$ {}", words(command));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    let mut stdout = String::new();
    if let Some(pipe) = child.stdout.take() {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line)? > 0 {
            show(&line)?;
            stdout.push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    Ok(Finished {
        status: child.wait()?,
        stdout,
    })
}

/// Runs the command in silence; an error carries what it wrote on standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    ensure!(
        output.status.success(),
        "{} ended with {}:\n{}",
        words(command),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs the command with its standard error shown as it comes, and returns its standard output.
pub fn output_with_progress(command: &mut Command) -> Result<String> {
    println!("$ {}", words(command));
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    ensure!(
        output.status.success(),
        "{} ended with {}",
        command.get_program().display(),
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as one would type it, with the variables it adds.
fn words(command: &Command) -> String {
    let mut text = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}={} ", name.display(), value.display());
        }
    }
    text.push_str(&command.get_program().to_string_lossy());
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.display());
    }
    text
}

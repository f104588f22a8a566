//! Each way in which a bound copy could be wrong: it must run the original then, and else do the same as the original.

use std::path::Path;
use std::process::{Output, Stdio};

use anyhow::{Context, Result};

use super::{Program, library_of};

/// What goes wrong, in words; nothing is what is hoped for.
pub fn of(program: &Program, copy: &Path, stock: &Output) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    // The copy runs, with the same result.
    for wrapper in [
        &["setarch", "-R"][..],
        &["sh", "-c", "ulimit -s unlimited; exec \"$0\" \"$@\""],
        &["env", "LD_BIND_NOW=1"],
    ] {
        let expected = program.run(wrapper, Path::new(program.file), &|_| {})?;
        let found = program.run(wrapper, copy, &|_| {})?;
        problems.extend(problem(&wrapper.join(" "), &found, &expected, false));
    }
    // The original runs.
    let mut judge = |what: &str, bound: &Output, falls_back: bool| {
        problems.extend(problem(what, bound, stock, falls_back));
    };
    let preloaded = library_of(copy)?.0;
    judge(
        "LD_PRELOAD",
        &program.run(&[], copy, &|command| {
            command.env("LD_PRELOAD", &preloaded);
        })?,
        true,
    );
    judge(
        "LD_LIBRARY_PATH",
        &program.run(&[], copy, &|command| {
            command.env("LD_LIBRARY_PATH", "/tmp");
        })?,
        true,
    );
    let (original, library) = library_of(copy)?;
    let away = library.with_extension("away");
    std::fs::rename(&library, &away).context("move a library away")?;
    let found = program.run(&[], copy, &|_| {});
    std::fs::rename(&away, &library).context("move the library back")?;
    judge("a copy is missing", &found?, true);
    // Another file in the library's place, for this process only.
    let same = tempfile::NamedTempFile::new()?;
    std::fs::copy(&original, same.path())?;
    let script = format!(
        "mount --bind {} {} && exec \"$0\" \"$@\"",
        same.path().display(),
        original.display()
    );
    judge(
        "a library is replaced",
        &program.run(&["unshare", "--mount", "sh", "-c", &script], copy, &|_| {})?,
        true,
    );
    // As somebody else; some programs do not run then, but both must agree.
    let other = [
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "env",
        "HOME=/nonexistent",
    ];
    let expected = program.run(&other, Path::new(program.file), &|_| {})?;
    let found = program.run(&other, copy, &|_| {})?;
    problems.extend(problem("another user", &found, &expected, false));
    problems.extend(crowd(program, copy, stock)?);
    problems.extend(debugged(program, copy)?);
    Ok(problems)
}

/// The difference to the original, if there is one.
fn problem(what: &str, bound: &Output, stock: &Output, falls_back: bool) -> Option<String> {
    let said = String::from_utf8_lossy(&bound.stderr);
    let fell_back = said
        .lines()
        .any(|line| line.starts_with("underhood: ") && line.contains("runs unbound"));
    if bound.stdout != stock.stdout || bound.status != stock.status {
        return Some(format!("{what}: other output or status ({})", bound.status));
    }
    match (falls_back, fell_back) {
        (true, false) => Some(format!("{what}: the copy ran")),
        (false, true) => Some(format!("{what}: the original ran")),
        _ => None,
    }
}

/// 200 at once.
fn crowd(program: &Program, copy: &Path, stock: &Output) -> Result<Option<String>> {
    let mut wrong = 0;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..200)
            .map(|_| scope.spawn(|| program.run(&[], copy, &|_| {})))
            .collect();
        for thread in threads {
            let same = match thread.join() {
                Ok(Ok(output)) => output.stdout == stock.stdout && output.status == stock.status,
                _ => false,
            };
            wrong += u32::from(!same);
        }
    });
    Ok((wrong > 0).then(|| format!("200 at once: {wrong} differ")))
}

/// A debugger stops at the end of the copy and sees the callers, wherever it does so in the original.
fn debugged(program: &Program, copy: &Path) -> Result<Option<String>> {
    let worse = sees_callers(program, Path::new(program.file))? && !sees_callers(program, copy)?;
    Ok(worse.then(|| "gdb sees no callers".to_owned()))
}

fn sees_callers(program: &Program, file: &Path) -> Result<bool> {
    let output = std::process::Command::new("timeout")
        .args([
            "--signal=KILL",
            "60",
            "gdb",
            "-nx",
            "-batch",
            "-ex",
            "catch syscall exit_group",
        ])
        .args([
            "-ex",
            "run </dev/null >/dev/null 2>&1",
            "-ex",
            "backtrace",
            "-ex",
            "kill",
            "--args",
        ])
        .arg(file)
        .args(program.arguments)
        .env("QT_QPA_PLATFORM", "offscreen")
        .env_remove("LD_LIBRARY_PATH")
        .stdin(Stdio::null())
        .output()
        .context("run gdb")?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.contains("#0") && said.contains("#1") && said.contains("exit ("))
}

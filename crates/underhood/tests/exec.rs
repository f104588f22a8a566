//! `exec` from outside: the command is really run, with the remedy in it, and nothing else about it changes.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn underhood() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_underhood"));
    command
        .env_remove("LD_PRELOAD")
        .env_remove("GLIBC_TUNABLES")
        .env_remove("UNDERHOOD_HEAP_SELECT");
    command
}

fn run(arguments: &[&str]) -> Output {
    underhood().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_library_is_in_the_command_and_in_its_children() {
    for heap in ["mimalloc", "jemalloc", "snmalloc"] {
        let output = run(&[
            "exec",
            "--heap",
            heap,
            "--",
            "sh",
            "-c",
            "cat /proc/self/maps; exit 7",
        ]);
        assert_eq!(output.status.code(), Some(7));
        assert!(
            text(&output.stdout).contains(&format!("libunderhood_{heap}.so")),
            "{}",
            text(&output.stderr)
        );
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn tunables_and_what_was_set_before_arrive() {
    let output = underhood()
        .args([
            "exec",
            "--set",
            "glibc.malloc.arena_max=0x1",
            "--remedy",
            "glibc.pthread.rseq=0",
            "--",
            "sh",
            "-c",
        ])
        .arg("echo $GLIBC_TUNABLES; cat; echo $0 $1; kill -TERM $$")
        .args(["a b", "c"])
        .env(
            "GLIBC_TUNABLES",
            "glibc.malloc.arena_max=7:glibc.malloc.perturb=1",
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            child.stdin.take().unwrap().write_all(b"input\n")?;
            child.wait_with_output()
        })
        .unwrap();
    assert_eq!(
        text(&output.stdout),
        "glibc.malloc.perturb=1:glibc.malloc.arena_max=1:glibc.pthread.rseq=0\ninput\na b c\n"
    );
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn what_cannot_be_done_is_said() {
    for (arguments, code, expected) in [
        (
            &["exec", "--heap", "nonsense", "--", "true"][..],
            2,
            "mimalloc, jemalloc, snmalloc",
        ),
        (&["exec", "--", "true"], 2, "--heap mimalloc"),
        (&["exec", "--heap", "mimalloc"], 2, "CMD"),
        (
            &["exec", "--set", "glibc.malloc.nonsense=1", "--", "true"],
            2,
            "glibc.malloc.arena_max",
        ),
        (
            &["exec", "--set", "glibc.malloc.arena_max=x", "--", "true"],
            2,
            "64k",
        ),
        (
            &[
                "exec",
                "--heap",
                "mimalloc",
                "--remedy",
                "heap=jemalloc",
                "--",
                "true",
            ],
            2,
            "choose one",
        ),
        (
            &["exec", "--heap", "mimalloc", "--", "/nonexistent/command"],
            1,
            "no such file",
        ),
        (
            &["exec", "--heap", "mimalloc", "--", "/etc/passwd"],
            1,
            "chmod +x",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(expected),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
        assert!(output.stdout.is_empty());
    }
}

/// A static program: no compiler is needed for one that only exits. The header of one segment, then `exit(5)`.
fn static_program(folder: &Path) -> PathBuf {
    let code: &[u8] = &[0xb8, 60, 0, 0, 0, 0xbf, 5, 0, 0, 0, 0x0f, 0x05];
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.resize(16, 0);
    let start = 0x40_0000_u64;
    let entry = start + 64 + 56;
    for (value, size) in [
        (2, 2),
        (62, 2),
        (1, 4),
        (entry, 8),
        (64, 8),
        (0, 8),
        (0, 4),
        (64, 2),
        (56, 2),
        (1, 2),
        (0, 2),
        (0, 2),
        (0, 2),
        // The one segment: loaded, readable and executable, the whole file.
        (1, 4),
        (5, 4),
        (0, 8),
        (start, 8),
        (start, 8),
        (64 + 56 + 12, 8),
        (64 + 56 + 12, 8),
        (0x1000, 8),
    ] {
        elf.extend_from_slice(&value.to_le_bytes()[..size]);
    }
    elf.extend_from_slice(code);
    let path = folder.join("static");
    fs::write(&path, elf).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_static_program_is_refused_and_run_when_forced() {
    let folder = tempfile::tempdir().unwrap();
    let program = static_program(folder.path());
    let program = program.to_str().unwrap();
    let output = run(&["exec", "--heap", "mimalloc", "--", program]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("statically linked"),
        "{}",
        text(&output.stderr)
    );
    let output = run(&["exec", "--heap", "mimalloc", "--force", "--", program]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("does nothing here"));
}

#[test]
fn a_program_made_for_musl_is_refused_even_when_forced() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
    fs::write(&source, "int main(void) { return 7; }").unwrap();
    let Ok(built) = Command::new("musl-gcc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()
    else {
        println!("SKIPPED: musl-gcc is missing; on Debian: apt-get install musl-tools");
        return;
    };
    assert!(built.success());
    let program = program.to_str().unwrap();
    assert_eq!(Command::new(program).status().unwrap().code(), Some(7));
    for forced in [&[][..], &["--force"]] {
        // musl's loader ends a program when a library to be preloaded does not load, so forcing would break it.
        let arguments = [&["exec", "--heap", "mimalloc"], forced, &["--", program]].concat();
        let output = run(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("the program is made for musl"), "{said}");
    }
}

#[test]
fn a_dry_run_only_prints() {
    let output = run(&[
        "exec",
        "--heap",
        "mimalloc",
        "--set",
        "glibc.malloc.perturb=1",
        "--dry-run",
        "--",
        "false",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    assert!(printed.starts_with("LD_PRELOAD=/"), "{printed}");
    assert!(
        printed.ends_with("/libunderhood_mimalloc.so\nGLIBC_TUNABLES='glibc.malloc.perturb=1'\n"),
        "{printed}"
    );
}

/// A home of its own for what is written permanently.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn underhood(&self, arguments: &[&OsStr]) -> Output {
        let (data, config) = (self.folder.path().join("data"), self.folder.path().join("config"));
        underhood()
            .env("XDG_DATA_HOME", data)
            .env("XDG_CONFIG_HOME", config)
            .args(arguments)
            .output()
            .unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                found.push(entry.path());
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}

#[test]
fn a_launcher_passes_every_byte_and_can_be_undone() {
    let home = Home::new();
    let launcher = home.folder.path().join("it's a $launcher");
    let odd = OsString::from_vec(b"\xff 'single' \"double\" $HOME `id` \\ \n* ~ \xc3\xa9".to_vec());
    let show = "printf '%s\\0' \"$@\"; printf %s \"$LD_PRELOAD\"; exit 9";
    let mut arguments: Vec<&OsStr> = [
        "exec",
        "--heap",
        "mimalloc",
        "--set",
        "glibc.malloc.perturb=1",
        "--write-launcher",
    ]
    .map(OsStr::new)
    .to_vec();
    arguments.push(launcher.as_os_str());
    arguments.extend(["--", "sh", "-c", show, "name"].map(OsStr::new));
    arguments.push(&odd);
    let output = home.underhood(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        fs::metadata(&launcher).unwrap().permissions().mode() & 0o777,
        0o755
    );

    for shell in [None, Some("dash"), Some("bash"), Some("busybox")] {
        let mut command = match shell {
            None => Command::new(&launcher),
            Some(shell) if Command::new(shell).arg("--help").output().is_err() => continue,
            Some("busybox") => {
                let mut command = Command::new("busybox");
                command.arg("sh").arg(&launcher);
                command
            }
            Some(shell) => {
                let mut command = Command::new(shell);
                command.arg(&launcher);
                command
            }
        };
        let output = command
            .arg("more words")
            .env("LD_PRELOAD", "libm.so.6")
            .output()
            .unwrap();
        let library = home
            .folder
            .path()
            .join("data/underhood/lib/libunderhood_mimalloc.so");
        let mut expected = odd.as_bytes().to_vec();
        expected.extend_from_slice(b"\0more words\0");
        expected.extend_from_slice(library.as_os_str().as_bytes());
        expected.extend_from_slice(b":libm.so.6");
        assert_eq!(text(&output.stdout), text(&expected), "{shell:?}");
        assert_eq!(output.stdout, expected);
        assert_eq!(output.status.code(), Some(9));
        assert_eq!(text(&output.stderr), "");
    }

    // Without its library it runs the plain command and says nothing.
    fs::remove_file(
        home.folder
            .path()
            .join("data/underhood/lib/libunderhood_mimalloc.so"),
    )
    .unwrap();
    let output = Command::new(&launcher).env_remove("LD_PRELOAD").output().unwrap();
    assert!(
        output.stdout.ends_with(b"\0") && output.stderr.is_empty(),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(output.status.code(), Some(9));

    let output = home.underhood(
        &["select", "--undo"]
            .map(OsStr::new)
            .into_iter()
            .chain([launcher.as_os_str()])
            .collect::<Vec<_>>(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(home.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_launcher_overwrites_only_what_is_ours() {
    let home = Home::new();
    let target = home.folder.path().join("run");
    fs::write(&target, "theirs").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let write = |heap: &str, force: &[&str]| {
        let mut arguments: Vec<&OsStr> = ["exec", "--heap", heap, "--write-launcher"]
            .map(OsStr::new)
            .to_vec();
        arguments.push(target.as_os_str());
        arguments.extend(force.iter().map(OsStr::new));
        arguments.extend(["--", "true"].map(OsStr::new));
        home.underhood(&arguments)
    };
    let output = write("mimalloc", &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text(&output.stderr).contains("not ours"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(fs::read(&target).unwrap(), b"theirs");
    assert_eq!(write("mimalloc", &["--force"]).status.code(), Some(0));
    // Ours may be replaced by ours.
    assert_eq!(write("jemalloc", &[]).status.code(), Some(0));
    assert!(text(&fs::read(&target).unwrap()).contains("libunderhood_jemalloc.so"));
    assert!(Command::new(&target).output().unwrap().status.success());
    let output = home.underhood(&[OsStr::new("select"), OsStr::new("--undo"), target.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read(&target).unwrap(), b"theirs");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(home.files(), [target]);
}

#[test]
fn a_launcher_never_replaces_the_program_or_calls_itself() {
    let home = Home::new();
    let program = home.folder.path().join("tool");
    fs::write(&program, "#!/bin/sh\necho tool\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = home.underhood(&[
        OsStr::new("exec"),
        OsStr::new("--heap=mimalloc"),
        OsStr::new("--force"),
        OsStr::new("--write-launcher"),
        program.as_os_str(),
        OsStr::new("--"),
        program.as_os_str(),
    ]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text(&output.stderr).contains("replace the program itself"),
        "{}",
        text(&output.stderr)
    );
    // A launcher with the command's own name, first in PATH, still finds the command.
    let launcher = home.folder.path().join("echo");
    let output = home.underhood(&[
        OsStr::new("exec"),
        OsStr::new("--heap=mimalloc"),
        OsStr::new("--write-launcher"),
        launcher.as_os_str(),
        OsStr::new("--"),
        OsStr::new("echo"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = Command::new(&launcher)
        .arg("once")
        .env("PATH", home.folder.path())
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "once\n");
}

//! Commands on Linux: every way to start, to fail and to end, and what is counted.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Program, assert_gone, file, folder, launcher, output, sh, tiny};
use underhood_os::process::{End, LaunchError, Sink, Spec, Stdin};

const SOON: Duration = Duration::from_secs(5);

#[test]
fn the_exit_code_is_the_commands() {
    let mut launcher = launcher();
    for code in [0, 1, 7, 255] {
        let outcome = launcher.run(&sh(&format!("exit {code}"))).expect("sh runs");
        assert_eq!(outcome.end, End::Exited(code));
        assert_eq!(outcome.usage.strays, 0);
    }
}

#[test]
fn a_crash_is_told_by_its_signal() {
    let outcome = launcher().run(&sh("kill -SEGV $$")).expect("sh runs");
    assert!(
        matches!(outcome.end, End::Signaled { signal: 11, .. }),
        "{outcome:?}"
    );
}

#[test]
fn a_program_that_is_not_there() {
    let mut launcher = launcher();
    let named = launcher.run(&Spec::new("underhood-no-such-program")).unwrap_err();
    assert!(
        matches!(named, LaunchError::NotFound { searched: true, .. }),
        "{named:?}"
    );
    let placed = launcher.run(&Spec::new("/no/such/program")).unwrap_err();
    assert!(
        matches!(placed, LaunchError::NotFound { searched: false, .. }),
        "{placed:?}"
    );
    let below_a_file = launcher.run(&Spec::new("/bin/sh/x")).unwrap_err();
    assert!(
        matches!(below_a_file, LaunchError::NotFound { .. }),
        "{below_a_file:?}"
    );
    assert!(matches!(
        launcher.run(&Spec::new("")),
        Err(LaunchError::NotFound { .. })
    ));
}

#[test]
fn a_file_that_cannot_be_executed_says_why() {
    let folder = folder();
    let mut launcher = launcher();
    // e_machine of elf(5): RISC-V.
    let mut foreign = std::fs::read("/bin/true").unwrap();
    foreign[18..20].copy_from_slice(&243_u16.to_le_bytes());
    for (name, text, mode, why) in [
        ("plain", b"echo hello\n".as_slice(), 0o644, "chmod +x"),
        ("script", b"echo hello\n", 0o755, "run `sh "),
        ("empty", b"", 0o755, "empty"),
        ("windows", b"MZ\x90\0", 0o755, "Windows"),
        ("foreign", &foreign, 0o755, "riscv"),
        ("damaged", b"\x7fELF\x02\x01\x01", 0o755, "damaged"),
        ("nobody", b"#!\n", 0o755, "no interpreter"),
    ] {
        let path = file(folder.path(), name, text, mode);
        let error = launcher.run(&Spec::new(path)).unwrap_err();
        assert!(
            matches!(error, LaunchError::NotExecutable { .. }),
            "{name}: {error:?}"
        );
        assert!(error.to_string().contains(why), "{name}: {error}");
    }
    let error = launcher.run(&Spec::new(folder.path())).unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
}

#[test]
fn a_missing_interpreter_is_told_apart_from_a_missing_program() {
    let folder = folder();
    let mut launcher = launcher();
    let script = file(folder.path(), "script", b"#! /no/such/interpreter -x\n", 0o755);
    match launcher.run(&Spec::new(&script)).unwrap_err() {
        LaunchError::MissingInterpreter { program, interpreter } => {
            assert_eq!(
                (program, interpreter.as_path()),
                (script, Path::new("/no/such/interpreter"))
            );
        }
        error => panic!("{error:?}"),
    }
    let elf = Program::compile("fat", &["-Wl,--dynamic-linker=/no/such/loader"]);
    let error = launcher.run(&Spec::new(elf.path())).unwrap_err();
    assert!(
        matches!(&error, LaunchError::MissingInterpreter { interpreter, .. } if interpreter == Path::new("/no/such/loader")),
        "{error:?}"
    );
}

#[test]
fn a_missing_interpreter_of_an_interpreter_and_a_windows_line_end_are_named() {
    let folder = folder();
    let mut launcher = launcher();
    let first = file(folder.path(), "first", b"#!/no/such/thing\n", 0o755);
    let second = file(
        folder.path(),
        "second",
        format!("#!{}\n", first.display()).as_bytes(),
        0o755,
    );
    let error = launcher.run(&Spec::new(second)).unwrap_err();
    assert!(error.to_string().contains("/no/such/thing"), "{error}");
    let windows = file(folder.path(), "windows", b"#!/bin/sh\r\necho hello\r\n", 0o755);
    let error = launcher.run(&Spec::new(windows)).unwrap_err();
    assert!(error.to_string().contains(r"/bin/sh\r"), "{error}");
    assert!(error.to_string().contains("sed"), "{error}");
}

#[test]
fn what_is_too_long_or_cannot_be_entered_is_said() {
    let mut launcher = launcher();
    // 128 KiB is the kernel's limit for one string.
    let error = launcher
        .run(&Spec::new("/bin/true").args(["x".repeat(200_000)]))
        .unwrap_err();
    assert!(
        matches!(error, LaunchError::TooLong { bytes } if bytes > 200_000),
        "{error:?}"
    );
    let mut spec = Spec::new("/bin/true");
    spec.cwd = Some("/no/such/directory".into());
    assert!(matches!(
        launcher.run(&spec),
        Err(LaunchError::BadDirectory { .. })
    ));
    let mut spec = Spec::new("/bin/true");
    spec.stdin = Stdin::File("/no/such/file".into());
    assert!(matches!(launcher.run(&spec), Err(LaunchError::BadInput { .. })));
    let mut spec = Spec::new("/bin/true");
    spec.cpus = Some(vec![8000]);
    assert!(matches!(launcher.run(&spec), Err(LaunchError::BadCpus { .. })));
    // The launcher serves on.
    assert_eq!(launcher.run(&Spec::new("/bin/true")).unwrap().end, End::Exited(0));
}

#[test]
fn a_megabyte_of_arguments_and_environment_passes_and_does_not_raise_the_floor() {
    let mut launcher = launcher();
    let mut spec = sh("printf %s \"$0$A\" | wc -c").args(["-c", "printf %s $#"]);
    spec.args
        .extend(std::iter::repeat_n(OsString::from("y".repeat(1000)), 1001));
    spec.env.push(("A".into(), "z".repeat(100_000).into()));
    let (outcome, text) = output(&mut launcher, spec);
    assert_eq!(
        (outcome.end, text.as_slice()),
        (End::Exited(0), b"1000".as_slice())
    );
    let tiny = tiny();
    let after = launcher.run(&Spec::new(tiny.path())).unwrap().usage;
    assert!(after.peak_rss_bytes.unwrap() <= 1 << 20, "{after:?}");
}

#[test]
fn arguments_and_environment_pass_byte_for_byte() {
    let mut launcher = launcher();
    let odd = OsString::from_vec(b"\xff \n\t\"'\\$ \xc3\x28".to_vec());
    let mut spec = Spec::new("/bin/cat").args(["/proc/self/cmdline", "/proc/self/environ"]);
    spec.args
        .extend([OsString::from("--"), odd.clone(), OsString::new()]);
    spec.env = vec![
        ("PATH".into(), "/bin".into()),
        (odd.clone(), odd.clone()),
        ("EMPTY".into(), "".into()),
    ];
    let mut expected = b"/bin/cat\0/proc/self/cmdline\0/proc/self/environ\0--\0".to_vec();
    expected.extend_from_slice(odd.as_bytes());
    expected.extend_from_slice(b"\0\0PATH=/bin\0");
    expected.extend_from_slice(odd.as_bytes());
    expected.push(b'=');
    expected.extend_from_slice(odd.as_bytes());
    expected.extend_from_slice(b"\0EMPTY=\0");
    let (_, text) = output(&mut launcher, spec);
    assert_eq!(text, expected);
}

#[test]
fn a_relative_program_keeps_its_name_and_the_directory_is_entered() {
    let folder = folder();
    file(folder.path(), "where", b"#!/bin/sh\necho $0; pwd\n", 0o755);
    let mut launcher = launcher();
    let mut spec = Spec::new("where");
    spec.env = vec![("PATH".into(), folder.path().into())];
    spec.cwd = Some("/usr".into());
    let (_, text) = output(&mut launcher, spec);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        format!("{}/where\n/usr\n", folder.path().display())
    );
}

#[test]
fn the_command_starts_clean() {
    let mut launcher = launcher();
    // Descriptor 3 is the one that lists the directory.
    let (_, text) = output(&mut launcher, Spec::new("ls").args(["/proc/self/fd"]));
    assert_eq!(text, b"0\n1\n2\n3\n");
    let (_, text) = output(
        &mut launcher,
        Spec::new("grep").args(["-E", "Sig(Blk|Ign)", "/proc/self/status"]),
    );
    let none = "0".repeat(16);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        format!("SigBlk:\t{none}\nSigIgn:\t{none}\n")
    );
    let (_, text) = output(&mut launcher, sh("ps -o pgid=,tty= $$; echo $$"));
    let text = String::from_utf8(text).unwrap();
    let words: Vec<_> = text.split_whitespace().collect();
    assert_eq!(
        words,
        [words[2], "?", words[2]],
        "a group of its own and no terminal"
    );
}

#[test]
fn input_is_read_from_the_start_for_every_run() {
    let folder = folder();
    let text = b"0123456789\n".repeat(10_000);
    let path = file(folder.path(), "input", &text, 0o644);
    let mut launcher = launcher();
    for _ in 0..3 {
        let mut spec = Spec::new("cat");
        spec.stdin = Stdin::File(path.clone());
        let (outcome, read) = output(&mut launcher, spec);
        assert_eq!(outcome.end, End::Exited(0));
        assert_eq!(read, text);
        assert!(outcome.usage.read_bytes.unwrap() >= text.len() as u64);
        assert!(outcome.usage.written_bytes.unwrap() >= text.len() as u64);
    }
    let mut closes = sh("exec <&-; exit 3");
    closes.stdin = Stdin::File(path);
    assert_eq!(launcher.run(&closes).unwrap().end, End::Exited(3));
    let fifo = folder.path().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let mut spec = Spec::new("cat");
    spec.stdin = Stdin::File(fifo);
    assert!(
        matches!(launcher.run(&spec), Err(LaunchError::BadInput { .. })),
        "a pipe cannot be replayed"
    );
}

#[test]
fn a_flood_of_output_is_met_by_the_limit_of_its_file() {
    let file = underhood_os::memory::capped_file(1 << 20).unwrap();
    let mut spec = sh("trap '' PIPE; yes || exit 9");
    spec.stdout = Sink::File(file.try_clone().unwrap());
    spec.timeout = Some(SOON);
    let outcome = launcher().run(&spec).unwrap();
    assert!(matches!(outcome.end, End::Exited(_)), "{outcome:?}");
    assert_eq!(underhood_os::memory::written_len(&file).unwrap(), 1 << 20);
}

#[test]
fn a_tree_that_resists_is_gone_after_the_time_limit() {
    let clingy = Program::compile("clingy", &[]);
    let mark = format!("mark-timeout-{}", std::process::id());
    let mut spec = Spec::new(clingy.path()).args([mark.as_str(), "3"]);
    spec.timeout = Some(Duration::from_millis(200));
    spec.grace = Duration::from_millis(100);
    let begin = Instant::now();
    let outcome = launcher().run(&spec).unwrap();
    let took = begin.elapsed();
    assert_gone(&mark, Duration::ZERO);
    assert_eq!(outcome.end, End::TimedOut);
    assert!(outcome.usage.wall_ns >= 300_000_000, "{outcome:?}");
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_polite_tree_ends_within_the_grace() {
    let mut spec = sh("sleep 1000 & sleep 1000 & wait");
    spec.timeout = Some(Duration::from_millis(50));
    spec.grace = Duration::from_secs(60);
    let begin = Instant::now();
    assert_eq!(launcher().run(&spec).unwrap().end, End::TimedOut);
    assert!(begin.elapsed() < SOON);
}

#[test]
fn a_stopped_command_is_ended_too() {
    let mut spec = sh("kill -STOP $$");
    spec.timeout = Some(Duration::from_millis(50));
    spec.grace = Duration::from_secs(60);
    let begin = Instant::now();
    assert_eq!(launcher().run(&spec).unwrap().end, End::TimedOut);
    assert!(begin.elapsed() < SOON);
}

#[test]
fn strays_are_counted_and_ended_and_are_not_in_the_wall_time() {
    let mark = format!("mark-stray-{}", std::process::id());
    let mut spec = sh(&format!(
        "(exec sh -c 'trap \"\" TERM; while :; do sleep 0.01; done; : {mark}') & (setsid sleep 777 &) ; exit 5"
    ));
    spec.grace = Duration::from_millis(300);
    let outcome = launcher().run(&spec).unwrap();
    assert_gone(&mark, Duration::ZERO);
    assert_eq!(outcome.end, End::Exited(5));
    assert!((2..=3).contains(&outcome.usage.strays), "{outcome:?}");
    assert!(outcome.usage.wall_ns < 300_000_000, "{outcome:?}");
}

#[test]
fn orphans_that_end_by_themselves_are_no_strays() {
    let outcome = launcher().run(&sh("(sleep 0.01 &); sleep 0.2; exit 0")).unwrap();
    assert_eq!(outcome.usage.strays, 0);
}

#[test]
fn a_process_that_flees_from_fork_to_fork_is_caught() {
    let comet = Program::compile("comet", &[]);
    let mark = format!("mark-comet-{}", std::process::id());
    let mut spec = Spec::new(comet.path()).args([mark.as_str()]);
    spec.grace = Duration::ZERO;
    let begin = Instant::now();
    let outcome = launcher().run(&spec).unwrap();
    assert!(begin.elapsed() < SOON, "it ends by itself only later");
    assert_gone(&mark, Duration::ZERO);
    assert_eq!(outcome.end, End::Exited(0));
}

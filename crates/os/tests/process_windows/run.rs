//! Runs.

use std::fs;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

use underhood_os::process::{End, LaunchError, Launcher, Outcome, Sink, Spec, Stdin};
use underhood_os::signal;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessHandleCount};

use crate::roles::{BEGIN, role};

fn launcher() -> Launcher {
    Launcher::start(Path::new("")).unwrap()
}

fn run(spec: &Spec) -> Outcome {
    launcher().run(spec).unwrap()
}

fn output(mut spec: Spec) -> String {
    let mut file = tempfile::tempfile().unwrap();
    spec.stdout = Sink::File(file.try_clone().unwrap());
    assert_eq!(run(&spec).end, End::Exited(0));
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text.split_once(BEGIN).unwrap().1.to_owned()
}

#[test]
fn exit_codes() {
    for code in [0, 1, 7, 255, 70_000] {
        assert_eq!(
            run(&Spec::new("cmd").args(["/c", "exit", &code.to_string()])).end,
            End::Exited(code)
        );
    }
    let crash = run(&role("crash", &[])).end;
    assert!(
        matches!(crash, End::Signaled { signal, .. } if signal < 0),
        "{crash:?}"
    );
}

#[test]
fn failures_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut launcher = launcher();
    let error = launcher.run(&Spec::new("underhood-no-such-program")).unwrap_err();
    assert!(
        matches!(error, LaunchError::NotFound { searched: true, .. }),
        "{error:?}"
    );
    let error = launcher.run(&Spec::new("C:\\no\\such\\program.exe")).unwrap_err();
    assert!(
        matches!(error, LaunchError::NotFound { searched: false, .. }),
        "{error:?}"
    );
    for (name, text) in [
        ("text.exe", "hello"),
        ("batch.cmd", "@exit 0"),
        ("linux.exe", "\x7fELF"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let error = launcher.run(&Spec::new(&path)).unwrap_err();
        assert!(
            matches!(error, LaunchError::NotExecutable { .. }),
            "{name}: {error:?}"
        );
    }
    let error = launcher
        .run(&Spec::new("cmd").args(["x".repeat(40_000)]))
        .unwrap_err();
    assert!(
        matches!(error, LaunchError::TooLong { bytes } if bytes > 80_000),
        "{error:?}"
    );
    let mut spec = Spec::new("cmd");
    spec.stdin = Stdin::File("C:\\no\\such\\file".into());
    assert!(matches!(launcher.run(&spec), Err(LaunchError::BadInput { .. })));
    let mut spec = Spec::new("cmd").args(["/c", "exit"]);
    spec.cwd = Some("C:\\no\\such\\directory".into());
    let error = launcher.run(&spec).unwrap_err();
    assert!(
        matches!(
            error,
            LaunchError::BadDirectory { .. } | LaunchError::NotFound { .. }
        ),
        "{error:?}"
    );
}

#[test]
fn arguments_and_environment_pass_unchanged() {
    let odd = [
        "plain",
        "",
        "two words",
        "say \"hi\"",
        "back\\slash\\",
        "both\\\" ",
        "ümläut ☃",
        "%PATH%",
        "a\tb",
    ];
    let expected: String = odd.iter().map(|argument| format!("[{argument}]\n")).collect();
    assert_eq!(output(role("arguments", &odd)), expected);
    let mut spec = role("variable", &[]);
    spec.env.push(("ODD".into(), "ü=\"☃\" ".into()));
    assert_eq!(
        output(spec),
        format!(
            "{:?} {:?}\n",
            Ok::<_, ()>("ü=\"☃\" "),
            Err::<(), _>(std::env::VarError::NotPresent)
        )
    );
    let folder = tempfile::tempdir().unwrap();
    let mut spec = role("directory", &[]);
    spec.cwd = Some(folder.path().to_owned());
    assert_eq!(Path::new(output(spec).trim_end()), folder.path());
}

#[test]
fn input_is_read_from_the_start_for_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let text = "0123456789\n".repeat(10_000);
    fs::write(&path, &text).unwrap();
    for _ in 0..3 {
        let mut spec = role("copy", &[]);
        spec.stdin = Stdin::File(path.clone());
        assert_eq!(output(spec), text);
    }
    assert_eq!(
        output(role("copy", &[])),
        "",
        "without input there is nothing to read"
    );
}

/// Whether nobody writes into the file any more.
pub fn silent(file: &Path) -> bool {
    let before = fs::metadata(file).unwrap().len();
    assert!(before > 0, "it did live");
    std::thread::sleep(Duration::from_millis(300));
    fs::metadata(file).unwrap().len() == before
}

#[test]
fn the_time_limit_ends_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("beat");
    // A slow machine needs longer until the grandchild lives; a limit that ended the tree before it did proves nothing.
    for seconds in [3, 15, 60] {
        let mut spec = role("parent", &[file.to_str().unwrap()]);
        spec.timeout = Some(Duration::from_secs(seconds));
        spec.grace = Duration::from_millis(100);
        let begin = Instant::now();
        let outcome = run(&spec);
        assert_eq!(outcome.end, End::TimedOut);
        assert!(outcome.usage.wall_ns >= 1_000_000_000 * seconds, "{outcome:?}");
        assert!(begin.elapsed() < Duration::from_secs(5 * seconds));
        if file.exists() {
            break;
        }
    }
    assert!(silent(&file));
}

#[test]
fn strays_are_counted_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("beat");
    let mut spec = role("parent", &[file.to_str().unwrap(), "leave"]);
    spec.grace = Duration::from_millis(100);
    let outcome = run(&spec);
    assert_eq!((outcome.end, outcome.usage.strays), (End::Exited(5), 1));
    assert!(silent(&file));
}

#[test]
fn memory_is_the_commands_own() {
    let peak = |mib: &str| run(&role("touch", &[mib])).usage.peak_rss_bytes;
    let (large, small) = (peak("200"), peak("1"));
    // Where jobs count, they know the peak. Where they do not, a process may still be asked before it is forgotten.
    let counted = launcher()
        .support()
        .iter()
        .any(|(feature, answer)| *feature == "job_peak" && answer.is_ok());
    assert!(!counted || (large.is_some() && small.is_some()));
    assert!(
        large.is_none_or(|peak| (200 << 20..300 << 20).contains(&peak)),
        "{large:?}"
    );
    assert!(small.is_none_or(|peak| peak < 100 << 20), "{small:?}");
}

#[test]
fn cpu_time_is_counted() {
    let usage = run(&role("burn", &["300"])).usage;
    let told = launcher()
        .support()
        .iter()
        .any(|(feature, answer)| *feature == "cpu_time" && answer.is_ok());
    assert_eq!(usage.cpu_ns.is_some(), told, "{usage:?}");
    // The command stops at 300 ms by its own count.
    let possible = 300_000_000..usage.wall_ns + 50_000_000;
    assert!(
        usage.cpu_ns.is_none_or(|cpu_ns| possible.contains(&cpu_ns)),
        "{usage:?}"
    );
}

#[test]
fn cpus_can_be_chosen() {
    let mut spec = Spec::new("cmd").args(["/c", "exit"]);
    spec.cpus = Some(vec![0]);
    assert_eq!(run(&spec).end, End::Exited(0));
    spec.cpus = Some(vec![99]);
    assert!(matches!(launcher().run(&spec), Err(LaunchError::BadCpus { .. })));
}

#[test]
fn many_runs_leave_no_handle() {
    let spec = Spec::new("cmd").args(["/c", "exit"]);
    run(&spec);
    let before = open_handles();
    for _ in 0..30 {
        assert_eq!(run(&spec).end, End::Exited(0));
    }
    // Each run has at least six of its own. Other tests of this process open some meanwhile.
    assert!(open_handles() < before + 60);
}

#[expect(unsafe_code, reason = "the number of open handles is asked for by a raw call")]
fn open_handles() -> u32 {
    let mut count = 0;
    // SAFETY: the pseudo-handle is always valid.
    let us = unsafe { GetCurrentProcess() };
    // SAFETY: as just said; `count` is a place for the answer.
    assert_ne!(unsafe { GetProcessHandleCount(us, &raw mut count) }, 0);
    count
}

#[test]
#[expect(clippy::print_stdout, reason = "shown when the test fails, or on request")]
fn every_feature_has_an_answer() {
    let support = launcher().support();
    assert_eq!(support.len(), 9);
    for (feature, answer) in support {
        println!("{feature}: {answer:?}");
        if let Err(why) = answer {
            assert!(why.reason().len() > 20, "{feature}: {why}");
        }
    }
}

#[test]
fn sleep_is_not_interrupted_without_cause() {
    signal::install().unwrap();
    let begin = Instant::now();
    assert!(!signal::sleep(Duration::from_millis(30)));
    assert!(begin.elapsed() >= Duration::from_millis(25));
    assert!(!signal::interrupted());
}

//! Whatever ends us, nothing that we started stays: SIGINT, SIGTERM, a second one, SIGKILL, the launcher killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use underhood_os::process::{LaunchError, Spec, observe};
use underhood_os::signal;

use crate::support::{Program, assert_gone, launcher, output, running, sh};

const SOON: Duration = Duration::from_secs(5);
const MARK: &str = "UNDERHOOD_TEST_MARK";
const GRACE_MS: &str = "UNDERHOOD_TEST_GRACE_MS";
const PROGRAM: &str = "UNDERHOOD_TEST_PROGRAM";
/// Set when the command is to be observed instead of run.
const OBSERVED: &str = "UNDERHOOD_TEST_OBSERVED";

/// Not a test: the process that the tests below start, in order to end it. It runs a command that resists.
#[test]
#[ignore = "started by other tests"]
#[expect(clippy::print_stdout, reason = "how the starting test learns what happened")]
fn victim() {
    let (Ok(mark), Ok(program)) = (std::env::var(MARK), std::env::var(PROGRAM)) else {
        return;
    };
    signal::install().unwrap();
    let mut launcher = launcher();
    let pid = output(&mut launcher, sh("echo $PPID")).1;
    println!("launcher {}", String::from_utf8(pid).unwrap().trim());
    let mut spec = Spec::new(program).args([mark.as_str(), "2"]);
    spec.grace = Duration::from_millis(std::env::var(GRACE_MS).unwrap().parse().unwrap());
    let result = if std::env::var_os(OBSERVED).is_some() {
        observe(&spec).map(|seen| seen.end)
    } else {
        launcher.run(&spec).map(|outcome| outcome.end)
    };
    println!("result {result:?}");
    assert!(matches!(
        launcher.run(&spec),
        Err(LaunchError::Interrupted | LaunchError::Launcher(_))
    ));
    assert_eq!(signal::sleep(SOON), signal::interrupted());
}

/// A victim whose command and both its daemons are running.
struct Victim {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    launcher: i32,
    mark: String,
    _program: Program,
}

impl Victim {
    fn start(name: &str, grace_ms: u32) -> Self {
        Self::start_with(name, grace_ms, &[])
    }

    fn start_with(name: &str, grace_ms: u32, variables: &[&str]) -> Self {
        let program = Program::compile("clingy", &[]);
        let mark = format!("mark-{name}-{}", std::process::id());
        // Whoever runs the tests may ignore signals, as nohup and background jobs do; the victim must not.
        let mut process = Command::new("env")
            .arg("--default-signal=HUP,INT,TERM")
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "interrupt::victim", "--nocapture"])
            .env("UNDERHOOD_LAUNCHER", crate::support::launcher_path())
            .env(PROGRAM, program.path())
            .env(MARK, &mark)
            .env(GRACE_MS, grace_ms.to_string())
            .envs(variables.iter().map(|name| (name, "1")))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let launcher = word_after("launcher ", &mut lines).parse().unwrap();
        let limit = Instant::now() + SOON;
        while running(&mark).len() < 3 {
            assert!(Instant::now() < limit, "the command does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        // A daemon is seen before its second fork; let it finish.
        std::thread::sleep(Duration::from_millis(20));
        Self {
            process,
            lines,
            launcher,
            mark,
            _program: program,
        }
    }

    fn signal(&self, signal: &str) {
        kill(i32::try_from(self.process.id()).unwrap(), signal);
    }
}

fn kill(pid: i32, signal: &str) {
    assert!(
        Command::new("kill")
            .args(["-s", signal, &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn word_after(start: &str, lines: &mut impl Iterator<Item = std::io::Result<String>>) -> String {
    // The test harness begins its own line before ours.
    let line = lines
        .map(Result::unwrap)
        .find(|line| line.contains(start))
        .unwrap();
    line[line.find(start).unwrap() + start.len()..].to_owned()
}

#[test]
fn the_first_interrupt_ends_the_run_and_the_tree() {
    for name in ["INT", "TERM", "HUP"] {
        let mut victim = Victim::start(name, 100);
        let begin = Instant::now();
        victim.signal(name);
        assert_eq!(word_after("result ", &mut victim.lines), "Err(Interrupted)");
        assert_gone(&victim.mark, Duration::ZERO);
        assert!(
            begin.elapsed() >= Duration::from_millis(100),
            "the grace is given"
        );
        assert!(begin.elapsed() < SOON);
        assert!(victim.process.wait().unwrap().success());
    }
}

#[test]
fn the_second_interrupt_ends_everything_at_once() {
    let mut victim = Victim::start("second", 60_000);
    victim.signal("INT");
    std::thread::sleep(Duration::from_millis(50));
    let begin = Instant::now();
    victim.signal("INT");
    assert_eq!(
        victim.process.wait().unwrap().code(),
        Some(signal::EXIT_INTERRUPTED)
    );
    assert_gone(&victim.mark, Duration::ZERO);
    assert!(begin.elapsed() < SOON);
}

#[test]
fn killing_the_parent_leaves_nothing() {
    let mut victim = Victim::start("killed", 60_000);
    victim.signal("KILL");
    victim.process.wait().unwrap();
    assert_gone(&victim.mark, SOON);
    let limit = Instant::now() + SOON;
    while std::fs::exists(format!("/proc/{}", victim.launcher)).unwrap() {
        assert!(Instant::now() < limit, "the launcher stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_observation_ends_with_the_interrupt_and_with_us() {
    let mut victim = Victim::start_with("observed", 100, &[OBSERVED]);
    victim.signal("INT");
    assert_eq!(word_after("result ", &mut victim.lines), "Err(Interrupted)");
    assert_gone(&victim.mark, Duration::ZERO);
    victim.process.wait().unwrap();

    let mut victim = Victim::start_with("traced", 60_000, &[OBSERVED]);
    victim.signal("KILL");
    victim.process.wait().unwrap();
    assert_gone(&victim.mark, SOON);
}

#[test]
fn killing_the_launcher_ends_the_command_and_is_an_error() {
    let mut victim = Victim::start("launcher", 0);
    let command = running(&victim.mark);
    kill(victim.launcher, "KILL");
    assert!(word_after("result ", &mut victim.lines).starts_with("Err(Launcher("));
    // The command itself is gone; nobody is left who could find its daemons, so the test ends those.
    let limit = Instant::now() + SOON;
    while running(&victim.mark).len() == command.len() {
        assert!(Instant::now() < limit);
        std::thread::sleep(Duration::from_millis(5));
    }
    for pid in running(&victim.mark) {
        kill(i32::try_from(pid).unwrap(), "KILL");
    }
    victim.process.wait().unwrap();
}

#[test]
fn a_signal_to_the_launcher_alone_is_ignored() {
    let mut launcher = launcher();
    let outcome = launcher
        .run(&sh("kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; exit 4"))
        .unwrap();
    assert_eq!(outcome.end, underhood_os::process::End::Exited(4));
    assert!(launcher.run(&sh("exit 0")).is_ok());
}

#[test]
fn a_program_that_is_no_launcher_is_refused() {
    for program in ["/bin/true", "/bin/echo"] {
        assert!(
            underhood_os::process::Launcher::start(std::path::Path::new(program)).is_err(),
            "{program}"
        );
    }
}

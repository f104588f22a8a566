//! What observation sees inside a command.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use underhood_os::process::{End, LaunchError, Observation, Sink, Spec, Stdin, observe};

use crate::support::{Program, assert_gone, file, folder, sh, tiny};

const SOON: Duration = Duration::from_secs(5);

fn library() -> Program {
    Program::compile("empty", &["-shared", "-fPIC"])
}

fn preloading(mut spec: Spec, library: &Program) -> Spec {
    spec.env.push(("LD_PRELOAD".into(), library.path().into()));
    spec
}

fn seen(spec: &Spec) -> Observation {
    observe(spec).expect("this machine lets us trace")
}

#[test]
fn a_preloaded_library_is_seen_in_a_short_program_and_in_its_children() {
    let library = library();
    let name = OsStr::new("program");
    let short = seen(&preloading(Spec::new("/bin/true"), &library));
    assert_eq!(short.end, End::Exited(0));
    assert!(short.library_everywhere(name), "{short:?}");
    assert_eq!(
        short.processes[0].variable(OsStr::new("LD_PRELOAD")),
        Some(library.path().as_os_str())
    );
    assert!(short.single_threaded());

    let family = seen(&preloading(
        sh("/bin/true; (exit 3); env -u LD_PRELOAD /bin/true; exit 4"),
        &library,
    ));
    assert_eq!((family.end, family.strays), (End::Exited(4), 0));
    let with: Vec<_> = family
        .processes
        .iter()
        .map(|process| process.has_library(name))
        .collect();
    assert_eq!(
        with,
        [true, true, true, false],
        "sh, true, the copy of sh, env without: {family:?}"
    );
    assert!(!family.library_everywhere(name));
    let execs: Vec<_> = family.processes.iter().map(|process| process.execs).collect();
    assert_eq!(execs, [1, 1, 0, 2]);
    assert_eq!(family.processes[3].argv0, "/bin/true");
    assert!(family.processes[3].exe.ends_with("true"));
    assert!(!family.single_threaded());

    let without = seen(&Spec::new("/bin/true"));
    assert!(!without.library_everywhere(name));
}

#[test]
fn a_static_program_has_no_library() {
    let tiny = tiny();
    let seen = seen(&preloading(Spec::new(tiny.path()), &library()));
    assert!(seen.processes[0].inspected);
    assert_eq!(seen.processes[0].libraries, [tiny.path()]);
}

#[test]
fn threads_are_counted_and_are_no_processes() {
    let program = Program::compile("threads", &["-pthread"]);
    for count in [0_u32, 1, 40] {
        let seen = seen(&Spec::new(program.path()).args([count.to_string()]));
        assert_eq!(seen.end, End::Exited(0));
        assert_eq!(seen.processes.len(), 1, "{seen:?}");
        assert_eq!(seen.processes[0].threads_created, count);
        assert_eq!(seen.single_threaded(), count == 0);
    }
    // Ended by another thread than the first.
    let seen = seen(&preloading(
        Spec::new(program.path()).args(["2", "x"]),
        &library(),
    ));
    assert_eq!((seen.end, seen.processes[0].threads_created), (End::Exited(0), 3));
    assert!(seen.library_everywhere(OsStr::new("program")), "{seen:?}");
}

#[test]
fn many_processes_are_followed() {
    let seen = seen(&sh("i=0; while [ $i -lt 200 ]; do (:) & i=$((i+1)); done; wait"));
    assert_eq!(
        (seen.end, seen.processes.len(), seen.strays),
        (End::Exited(0), 201, 0)
    );
}

#[test]
fn a_crash_and_a_stop_are_no_obstacle() {
    let crash = seen(&sh("kill -SEGV $$"));
    assert!(matches!(crash.end, End::Signaled { signal: 11, .. }), "{crash:?}");
    assert_eq!(seen(&sh("kill -STOP $$; exit 6")).end, End::Exited(6));
    // Signals that the program handles reach it.
    assert_eq!(
        seen(&sh("trap 'exit 8' USR1; kill -USR1 $$; exit 1")).end,
        End::Exited(8)
    );
}

#[test]
fn streams_directory_and_cpus_are_as_in_a_run() {
    let folder = folder();
    let out = std::fs::File::create(folder.path().join("out")).unwrap();
    let mut spec = sh("cat; pwd; grep -o 'list:.*' /proc/self/status");
    spec.stdin = Stdin::File(file(folder.path(), "in", b"text\n", 0o644));
    spec.stdout = Sink::File(out);
    spec.cwd = Some("/usr".into());
    let first = underhood_os::thread::current_affinity().unwrap().first().unwrap();
    spec.cpus = Some(vec![first]);
    assert_eq!(seen(&spec).end, End::Exited(0));
    let text = std::fs::read_to_string(folder.path().join("out")).unwrap();
    assert!(
        text.starts_with(&format!("text\n/usr\nlist:\t{first}\n")),
        "{text}"
    );
}

#[test]
fn failures_are_those_of_a_run() {
    let folder = folder();
    let script = file(folder.path(), "script", b"echo hello\n", 0o755);
    assert!(matches!(
        observe(&Spec::new("underhood-no-such-program")),
        Err(LaunchError::NotFound { .. })
    ));
    assert!(matches!(
        observe(&Spec::new(script)),
        Err(LaunchError::NotExecutable { .. })
    ));
    let script = file(folder.path(), "orphan", b"#!/no/such/thing\n", 0o755);
    match observe(&Spec::new(script)) {
        Err(LaunchError::MissingInterpreter { interpreter, .. }) => {
            assert_eq!(interpreter, Path::new("/no/such/thing"));
        }
        other => panic!("{other:?}"),
    }
    let mut spec = Spec::new("/bin/true");
    spec.cwd = Some("/no/such/directory".into());
    assert!(matches!(observe(&spec), Err(LaunchError::BadDirectory { .. })));
}

#[test]
fn a_tree_that_resists_is_gone_after_the_time_limit() {
    let clingy = Program::compile("clingy", &[]);
    let mark = format!("mark-observe-{}", std::process::id());
    let mut spec = Spec::new(clingy.path()).args([mark.as_str(), "3"]);
    spec.timeout = Some(Duration::from_millis(200));
    spec.grace = Duration::from_millis(100);
    let begin = Instant::now();
    let seen = seen(&spec);
    assert_gone(&mark, Duration::ZERO);
    assert_eq!(seen.end, End::TimedOut);
    // The command, and for each daemon a child and a grandchild.
    assert_eq!(seen.processes.len(), 7, "{seen:?}");
    assert!((Duration::from_millis(300)..SOON).contains(&begin.elapsed()));
}

#[test]
fn strays_are_counted_and_ended() {
    let mark = format!("mark-watched-{}", std::process::id());
    let begin = Instant::now();
    let seen = seen(&sh(&format!("sh -c 'sleep 1000; : {mark}' & exit 5")));
    assert_gone(&mark, Duration::ZERO);
    assert_eq!(seen.end, End::Exited(5));
    assert!((1..=2).contains(&seen.strays), "{seen:?}");
    assert!(begin.elapsed() < SOON);
}

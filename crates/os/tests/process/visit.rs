//! How far a command is followed, when it got there, and that nothing is left of it.

use std::path::Path;
use std::time::{Duration, Instant};

use underhood_os::process::{Arrival, End, LaunchError, Observation, Place, Sink, Spec, Visit, visit};

use crate::support::{Program, file, folder, sh, tiny};

const SETTLE: Duration = Duration::from_millis(300);

fn scouted(spec: &Spec) -> Observation {
    let whole = Visit {
        place: Place::Entry,
        stop_at: None,
        settle: SETTLE,
        at_last: None,
    };
    visit(spec, whole).expect("this machine lets us trace")
}

fn stopped_at(spec: &Spec, programs: u32) -> Observation {
    let there = Visit {
        place: Place::Entry,
        stop_at: Some(programs),
        settle: SETTLE,
        at_last: None,
    };
    visit(spec, there).expect("this machine lets us trace")
}

fn assert_gone(seen: &Observation) {
    for process in &seen.processes {
        let left = Path::new("/proc").join(process.pid.to_string());
        assert!(!left.exists(), "{} is left", process.exe.display());
    }
}

fn names(arrivals: &[Arrival]) -> Vec<&str> {
    arrivals
        .iter()
        .map(|arrival| arrival.exe.file_name().unwrap().to_str().unwrap())
        .collect()
}

#[test]
fn a_program_is_ended_at_its_entry_and_has_done_nothing() {
    let folder = folder();
    let made = folder.path().join("made");
    let mut spec = Spec::new("/bin/touch").args([&made]);
    spec.cpus = Some(vec![0]);
    let seen = stopped_at(&spec, 1);
    assert_eq!(seen.end, End::Stopped);
    assert_eq!(names(&seen.arrivals), ["touch"]);
    let arrival = &seen.arrivals[0];
    // The loader maps two libraries at least: not below 20 µs on any machine, and a second is a hang.
    assert!((20_000..1_000_000_000).contains(&arrival.ns.unwrap()), "{seen:?}");
    assert!(arrival.minor_faults.unwrap() + arrival.major_faults.unwrap() > 20);
    assert!(arrival.private_dirty_bytes.unwrap() > 4096);
    assert!(!made.exists());
    assert_gone(&seen);
}

#[test]
fn followed_to_its_end_a_program_does_all_and_ends_as_ever() {
    let seen = scouted(&sh("exit 7"));
    assert_eq!(seen.end, End::Exited(7));
    assert_eq!(seen.arrivals.len(), 1);
    assert!(seen.arrivals[0].ns.is_some());
    // Who arrived can be looked into.
    assert!(seen.processes[0].libraries.len() >= 3, "{seen:?}");
}

#[test]
fn chains_of_programs_are_followed_to_the_last() {
    let chain = || sh("/bin/true; exec env /bin/sleep 0");
    let seen = scouted(&chain());
    assert_eq!(seen.end, End::Exited(0));
    assert_eq!(names(&seen.arrivals)[1..], ["env", "sleep"]);
    let times: Vec<_> = seen.arrivals.iter().map(|arrival| arrival.ns.unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let there = stopped_at(&chain(), 2);
    assert_eq!(names(&there.arrivals)[1..], ["env"]);
    assert_eq!(there.end, End::Stopped);
}

#[test]
fn a_script_begins_with_its_interpreter() {
    let folder = folder();
    let script = file(folder.path(), "script", b"#!/bin/sh\nexec /bin/true\n", 0o755);
    let seen = scouted(&Spec::new(script));
    assert_eq!(names(&seen.arrivals)[1..], ["true"]);
}

#[test]
fn what_never_gets_there_says_how_it_ended() {
    // The loader lists the libraries and ends.
    let mut spec = Spec::new("/bin/true");
    spec.env.push(("LD_TRACE_LOADED_OBJECTS".into(), "1".into()));
    for seen in [scouted(&spec), stopped_at(&spec, 1)] {
        assert_eq!(seen.end, End::Exited(0));
        assert_eq!((seen.arrivals.len(), seen.arrivals[0].ns), (1, None));
    }
}

#[test]
fn a_program_that_goes_on_is_ended_when_it_has_settled() {
    let begin = Instant::now();
    let seen = scouted(&Spec::new("/bin/sleep").args(["100"]));
    assert_eq!(seen.end, End::Stopped);
    assert!((SETTLE..Duration::from_secs(20)).contains(&begin.elapsed()));
    assert_gone(&seen);
}

#[test]
fn copies_made_before_the_entry_are_not_hit_by_the_breakpoint() {
    // The constructor forks and vforks; the copies go on to their end, and their parent waits and insists that they succeed.
    let library = Program::compile("forker", &["-shared", "-fPIC"]);
    let mut spec = Spec::new("/bin/true");
    spec.env.push(("LD_PRELOAD".into(), library.path().into()));
    let seen = scouted(&spec);
    assert_eq!(seen.end, End::Exited(0), "{seen:?}");
    assert!(seen.processes.len() >= 3, "{seen:?}");
    let there = stopped_at(&spec, 1);
    assert_eq!(there.end, End::Stopped, "{there:?}");
    assert!(there.arrivals[0].ns.is_some());
}

#[test]
fn a_program_that_hangs_before_its_entry_is_ended_in_time() {
    let library = Program::compile("hanger", &["-shared", "-fPIC"]);
    let mut spec = Spec::new("/bin/true");
    spec.env.push(("LD_PRELOAD".into(), library.path().into()));
    spec.timeout = Some(Duration::from_millis(300));
    spec.grace = Duration::from_millis(100);
    let seen = stopped_at(&spec, 1);
    assert_eq!((seen.end, seen.arrivals[0].ns), (End::TimedOut, None));
    assert_gone(&seen);
}

#[test]
fn the_smallest_program_takes_almost_no_time() {
    let tiny = tiny();
    let mut times: Vec<_> = (0..20)
        .map(|_| {
            let mut spec = Spec::new(tiny.path());
            spec.cpus = Some(vec![0]);
            stopped_at(&spec, 1).arrivals[0].ns.unwrap()
        })
        .collect();
    times.sort_unstable();
    // Two context switches and a trap; a busy machine adds to most but not to all.
    assert!((500..200_000).contains(&times[0]), "{times:?}");
}

#[test]
fn a_place_is_found_by_its_address() {
    fn nowhere(_: &Path) -> Option<u64> {
        None
    }
    fn entry(exe: &Path) -> Option<u64> {
        let header = std::fs::read(exe).unwrap();
        Some(u64::from_le_bytes(header[24..32].try_into().unwrap()))
    }
    let to = |find: fn(&Path) -> Option<u64>| Visit {
        place: Place::Found(find),
        stop_at: Some(1),
        settle: SETTLE,
        at_last: None,
    };
    let found = visit(&Spec::new("/bin/true"), to(entry)).unwrap();
    assert_eq!(found.end, End::Stopped);
    let missed = visit(&Spec::new("/bin/true"), to(nowhere)).unwrap();
    assert_eq!((missed.end, missed.arrivals[0].ns), (End::Exited(0), None));
}

#[test]
fn set_user_id_programs_are_refused() {
    let folder = folder();
    let copy = folder.path().join("privileged");
    // Copied by another process, which nobody forks from while it writes.
    let copied = std::process::Command::new("install")
        .args(["-m", "4755", "/bin/true"])
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    let there = Visit {
        place: Place::Entry,
        stop_at: Some(1),
        settle: SETTLE,
        at_last: None,
    };
    let mut spec = sh(&format!("exec {}", copy.display()));
    spec.stderr = Sink::Null;
    for spec in [Spec::new(&copy), spec] {
        let to_the_end = Visit {
            stop_at: None,
            ..there
        };
        match visit(&spec, to_the_end) {
            Err(LaunchError::Unsupported(why)) => assert!(why.reason().contains("set-user-id"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

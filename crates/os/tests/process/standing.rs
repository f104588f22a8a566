//! A process that stands still between the work of the loader and the first constructor.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use underhood_os::process::{LaunchError, Spec, Standing, exists};

use crate::support::{Program, folder, tiny};

fn stand(spec: Spec) -> Standing {
    Standing::start(spec).expect("this machine lets us trace")
}

/// A program whose interpreter is `substitute.c`.
fn substituted() -> (Program, Program) {
    let interpreter = Program::compile("substitute", &["-static", "-nostdlib"]);
    let flag = format!("-Wl,--dynamic-linker={}", interpreter.path().display());
    (Program::compile("early", &[&flag]), interpreter)
}

#[test]
fn everything_is_loaded_and_nothing_has_run() {
    let program = Program::compile("early", &[]);
    let folder = folder();
    let made = folder.path().join("made");
    for _ in 0..20 {
        let standing = stand(Spec::new(program.path()).args([&made]));
        let exe = fs::canonicalize(program.path()).unwrap();
        assert_eq!(standing.exe(), exe);
        let names: Vec<_> = standing
            .objects()
            .iter()
            .map(|object| object.name.as_path())
            .collect();
        assert_eq!(names[0], Path::new(""));
        assert!(names.iter().any(|name| name.ends_with("libc.so.6")), "{names:?}");
        assert!(
            names[names.len() - 1].to_str().unwrap().contains("ld-linux"),
            "{names:?}"
        );
        assert_eq!(standing.file_of(&standing.objects()[0]), Some(exe.as_path()));
        let without: Vec<_> = standing
            .objects()
            .iter()
            .filter(|object| standing.file_of(object).is_none())
            .collect();
        assert!(without.len() <= 1, "the kernel's own at most: {without:?}");
        let mapped = |path: &Path| standing.mappings().iter().find(|range| range.name == path);
        let first = mapped(&exe).unwrap();
        assert_eq!(first.start, standing.objects()[0].bias);
        assert_ne!(first.inode, 0);
        let mut count = [0; 8];
        standing.read(standing.vectors().start, &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 2);
        let pointers = 1
            + 3
            + std::env::vars_os()
                .filter(|(key, _)| key != "LD_BIND_NOW")
                .count() as u64
            + 2;
        assert_eq!(standing.vectors().end - standing.vectors().start, pointers * 8);
        let mut magic = [0; 4];
        standing.read(first.start, &mut magic).unwrap();
        assert_eq!(&magic, b"\x7fELF");
        // All dynamic tables are in the address space.
        for object in standing.objects() {
            assert!(
                standing
                    .mappings()
                    .iter()
                    .any(|range| (range.start..range.end).contains(&object.dynamic))
            );
        }
        assert!(standing.read(0, &mut magic).is_err());
        let pid = standing.pid();
        drop(standing);
        assert!(!exists(pid));
        assert!(!made.exists());
    }
    // The test itself would see the file.
    assert!(
        Command::new(program.path())
            .arg(&made)
            .status()
            .unwrap()
            .success()
    );
    assert!(made.exists());
}

#[test]
fn the_breakpoints_are_gone_from_memory() {
    let program = Program::compile("early", &[]);
    let standing = stand(Spec::new(program.path()));
    let mut compared = 0;
    for range in standing
        .mappings()
        .iter()
        .filter(|range| range.access[2] && range.name.is_absolute())
    {
        let file = fs::read(&range.name).unwrap();
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap()];
        standing.read(range.start, &mut bytes).unwrap();
        let from = usize::try_from(range.offset).unwrap();
        let here = &file[from..file.len().min(from + bytes.len())];
        assert!(bytes.starts_with(here), "{range:?}");
        compared += 1;
    }
    assert!(compared >= 3, "program, C library and loader");
}

#[test]
fn two_stand_side_by_side() {
    let program = Program::compile("early", &[]);
    let both = [0, 1].map(|_| stand(Spec::new(program.path())));
    assert_ne!(both[0].pid(), both[1].pid());
    assert_eq!(both[0].objects().len(), both[1].objects().len());
    let pids = both.each_ref().map(Standing::pid);
    drop(both);
    assert!(!pids.into_iter().any(exists));
}

#[test]
fn a_loader_in_the_programs_place_is_followed() {
    let (program, _interpreter) = substituted();
    let standing = stand(Spec::new(program.path()).args(["/bin/true"]));
    assert_eq!(standing.exe(), fs::canonicalize("/bin/true").unwrap());
}

#[test]
fn a_time_limit_ends_it() {
    let (program, _interpreter) = substituted();
    let mut spec = Spec::new(program.path());
    spec.timeout = Some(Duration::from_millis(200));
    let error = Standing::start(spec).unwrap_err();
    assert!(
        matches!(&error, LaunchError::Other(error) if error.kind() == ErrorKind::TimedOut),
        "{error:?}"
    );
    crate::support::assert_gone(&program.path().to_string_lossy(), Duration::ZERO);
}

#[test]
fn what_cannot_be_held_is_refused() {
    let refused = |path: PathBuf| match Standing::start(Spec::new(path)).unwrap_err() {
        LaunchError::Unsupported(why) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused(tiny().path()).contains("without a dynamic loader"));
    let program = Program::compile("early", &[]);
    fs::set_permissions(program.path(), fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(refused(program.path()).contains("set-user-id"));
    assert!(matches!(
        Standing::start(Spec::new("/nowhere/at/all")),
        Err(LaunchError::NotFound { .. })
    ));
}

#[test]
fn a_loader_that_fails_is_told_of() {
    let program = Program::compile("early", &[]);
    let mut spec = Spec::new(program.path());
    // A warning, no error.
    spec.env.push(("LD_PRELOAD".into(), "/nowhere".into()));
    drop(stand(spec));
    let folder = folder();
    let bytes = fs::read(program.path()).unwrap();
    let at = bytes.windows(9).position(|part| part == b"libc.so.6").unwrap();
    let changed = [&bytes[..at], b"libX.so.6", &bytes[at + 9..]].concat();
    let broken = crate::support::file(folder.path(), "broken", &changed, 0o755);
    let error = Standing::start(Spec::new(&broken)).unwrap_err().to_string();
    assert!(error.contains("ended with code 127"), "{error}");
}

#[test]
fn it_ends_with_the_thread_that_holds_it() {
    let program = Program::compile("early", &[]);
    let path = program.path();
    let holder = std::thread::spawn(move || {
        let standing = stand(Spec::new(path));
        let pid = standing.pid();
        std::mem::forget(standing);
        pid
    });
    let pid = holder.join().unwrap();
    // Ended by the kernel, and not reaped by anybody yet.
    let limit = std::time::Instant::now() + Duration::from_secs(10);
    while fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(std::time::Instant::now() < limit, "it still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

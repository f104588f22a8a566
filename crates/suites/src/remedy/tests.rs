//! Remedies on programs that are on every machine, and on records made up for the purpose.

use std::sync::Arc;

use os::loader::{Format, Libc, Linkage};
use os::process::{End, ObservedProcess};

use super::*;

fn no_artifact(name: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(format!("/cache/lib{name}.so")))
}

fn parsed(text: &str) -> Result<Remedy, String> {
    parse(text, &no_artifact)
}

fn program() -> Program {
    Program {
        format: Format::Elf,
        bits: 64,
        machine: "x86_64".to_owned(),
        linkage: Linkage::Dynamic {
            interpreter: "/lib64/ld-linux-x86-64.so.2".into(),
        },
        libc: Libc::Glibc,
        setuid: false,
        setgid: false,
        file_caps: false,
        secure: false,
        go: false,
        own_heap: None,
        needed: Vec::new(),
    }
}

fn nothing(_: &str) -> Option<OsString> {
    None
}

#[test]
fn unknown_heaps_are_refused_with_the_known_ones() {
    if os::loader::preload_variable().is_none() {
        assert!(parsed("heap=nonsense").unwrap().available.reason().is_some());
        return;
    }
    let error = parsed("heap=nonsense").unwrap_err();
    assert!(error.contains("mimalloc, jemalloc, snmalloc"), "{error}");
    assert!(parsed("mimalloc").unwrap_err().contains("has no '='"));
    assert!(parsed("heap=/dev/null").unwrap_err().contains("regular file"));
    assert!(parsed("").unwrap_err().contains("heap=mimalloc"));
}

#[test]
fn what_this_machine_proposes_can_be_written_by_a_person() {
    let remedies = all(&no_artifact);
    let names: Vec<&str> = remedies.iter().map(|remedy| remedy.name.as_str()).collect();
    assert!(
        names.starts_with(&["heap=mimalloc", "heap=jemalloc", "heap=snmalloc"]),
        "{names:?}"
    );
    for remedy in &remedies {
        assert_eq!(parsed(&remedy.name).unwrap().kind, remedy.kind);
    }
}

#[test]
fn remedies_combine() {
    if os::loader::tunables().is_empty() {
        return;
    }
    let both = parsed("heap=mimalloc + glibc.malloc.arena_max=0x1").unwrap();
    assert_eq!(both.name, "heap=mimalloc+glibc.malloc.arena_max=1");
    let changes = both.environment(&nothing);
    assert_eq!(
        changes,
        [
            ("LD_PRELOAD".into(), Some("/cache/libmimalloc.so".into())),
            ("GLIBC_TUNABLES".into(), Some("glibc.malloc.arena_max=1".into())),
        ]
    );
    let last = parsed("glibc.malloc.arena_max=1+glibc.malloc.arena_max=2").unwrap();
    assert_eq!(last.name, "glibc.malloc.arena_max=2");
    assert!(
        parsed("heap=mimalloc+heap=jemalloc")
            .unwrap_err()
            .contains("choose one")
    );
    assert!(parsed("heap=mimalloc+").unwrap_err().contains("has no '='"));
}

#[test]
fn a_plus_in_a_path_does_not_split() {
    assert_eq!(
        split("heap=/opt/c++/lib+x.so+glibc.a.b=1"),
        ["heap=/opt/c++/lib+x.so", "glibc.a.b=1"]
    );
    assert_eq!(split("a+heap=b"), ["a", "heap=b"]);
}

#[test]
fn a_heap_needs_a_dynamic_program_of_its_own_kind() {
    let heap = Program {
        linkage: Linkage::Library,
        ..program()
    };
    let reason = |changed: Program| {
        heap::unsuitable(&heap, &changed).map(|obstacle| (obstacle.reason, obstacle.harmless))
    };
    assert_eq!(reason(program()), None);
    let cases = [
        (
            Program {
                linkage: Linkage::Static,
                ..program()
            },
            "statically linked",
            true,
        ),
        (
            Program {
                linkage: Linkage::StaticPie,
                go: true,
                ..program()
            },
            "made by Go",
            true,
        ),
        (
            Program {
                go: true,
                ..program()
            },
            "GOGC",
            true,
        ),
        (
            Program {
                secure: true,
                ..program()
            },
            "rights",
            true,
        ),
        (
            Program {
                libc: Libc::Musl,
                ..program()
            },
            "musl",
            false,
        ),
        (
            Program {
                libc: Libc::Unknown,
                ..program()
            },
            "not known",
            false,
        ),
        (
            Program {
                machine: "i386".to_owned(),
                bits: 32,
                ..program()
            },
            "i386 with 32 bits",
            true,
        ),
        (
            Program {
                own_heap: Some("jemalloc".to_owned()),
                ..program()
            },
            "its own heap (jemalloc)",
            true,
        ),
        (
            Program {
                format: Format::Pe,
                ..program()
            },
            "Windows",
            true,
        ),
        (
            Program {
                format: Format::Other,
                ..program()
            },
            "#!/bin/sh",
            true,
        ),
        (
            Program {
                linkage: Linkage::Library,
                ..program()
            },
            "a library",
            true,
        ),
    ];
    for (changed, expected, harmless) in cases {
        let (text, is_harmless) = reason(changed).unwrap();
        assert!(text.contains(expected), "{text}");
        assert_eq!(is_harmless, harmless, "{text}");
    }
}

#[test]
fn tunables_need_the_gnu_c_library() {
    let reason =
        |name: &str, changed: Program| tunable::obstacle(name, &changed).map(|obstacle| obstacle.reason);
    let name = "glibc.malloc.arena_max";
    assert!(
        reason(
            name,
            Program {
                libc: Libc::Musl,
                ..program()
            }
        )
        .unwrap()
        .contains("GNU")
    );
    assert!(
        reason(
            name,
            Program {
                linkage: Linkage::Static,
                ..program()
            }
        )
        .unwrap()
        .contains("statically")
    );
    assert!(
        reason(
            name,
            Program {
                secure: true,
                ..program()
            }
        )
        .unwrap()
        .contains("rights")
    );
    assert!(
        reason(
            name,
            Program {
                own_heap: Some("x".to_owned()),
                ..program()
            }
        )
        .unwrap()
        .contains("own heap")
    );
    let Some(real) = real_program() else { return };
    assert_eq!(reason(name, real.clone()), None);
    assert!(
        reason("glibc.no.such", real.clone())
            .unwrap()
            .contains("does not know")
    );
    let busy = Program {
        own_heap: Some("x".to_owned()),
        ..real
    };
    assert_eq!(reason("glibc.pthread.mutex_spin_count", busy), None);
}

/// A program with tunables, where there is one.
fn real_program() -> Option<Program> {
    let program = os::loader::classify("/bin/sh".as_ref()).ok()?;
    (program.libc == Libc::Glibc && !os::loader::tunables().is_empty()).then_some(program)
}

fn process(exe: &str, libraries: &[&str], environment: &[(&str, &str)]) -> ObservedProcess {
    ObservedProcess {
        exe: exe.into(),
        inspected: true,
        libraries: libraries.iter().map(PathBuf::from).collect(),
        environment: environment
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect::<Arc<[_]>>(),
        ..ObservedProcess::default()
    }
}

fn observation(processes: Vec<ObservedProcess>) -> Observation {
    Observation {
        end: End::Exited(0),
        processes,
        unlisted: 0,
        arrivals: Vec::new(),
        strays: 0,
    }
}

#[test]
fn a_tunable_is_proven_by_the_loader_and_the_environment() {
    if real_program().is_none() {
        return;
    }
    let remedy = parsed("glibc.malloc.arena_max=2").unwrap();
    let proof = |environment: &[(&str, &str)]| {
        remedy.in_effect(&observation(vec![process("/bin/sh", &[], environment)]))
    };
    assert_eq!(
        proof(&[(
            "GLIBC_TUNABLES",
            "glibc.malloc.arena_max=1:glibc.malloc.arena_max=2"
        )]),
        Ok(())
    );
    assert!(
        proof(&[(
            "GLIBC_TUNABLES",
            "glibc.malloc.arena_max=2:glibc.malloc.arena_max=1"
        )])
        .is_err()
    );
    assert!(proof(&[]).unwrap_err().contains("was started without"));
    assert!(
        remedy
            .in_effect(&observation(Vec::new()))
            .unwrap_err()
            .contains("no process")
    );
    // Above the largest value: the loader keeps its own.
    let refused = [("GLIBC_TUNABLES", "glibc.malloc.perturb=256")];
    let refused = observation(vec![process("/bin/sh", &[], &refused)]);
    let error = tunable::in_effect("glibc.malloc.perturb", "256", &refused).unwrap_err();
    assert!(error.contains("does not take"), "{error}");
}

#[test]
fn a_heap_is_proven_by_its_mapping() {
    let Some(heap) = os::loader::installed_heaps().into_iter().next() else {
        return;
    };
    let library = heap.path.to_string_lossy().into_owned();
    let mapped = heap.path.canonicalize().unwrap().to_string_lossy().into_owned();
    let remedy = parsed(&format!("heap={library}")).unwrap();
    let with = || process("/bin/sh", &["/bin/sh", &mapped], &[("LD_PRELOAD", &library)]);
    let without = |list: &str| process("/bin/sh", &["/bin/sh"], &[("LD_PRELOAD", list)]);
    assert_eq!(remedy.in_effect(&observation(vec![with(), with()])), Ok(()));
    let error = remedy
        .in_effect(&observation(vec![with(), without("")]))
        .unwrap_err();
    assert!(error.contains("started without LD_PRELOAD"), "{error}");
    let error = remedy
        .in_effect(&observation(vec![without(&library)]))
        .unwrap_err();
    assert!(error.contains("did not accept"), "{error}");
    // A process that nothing can be preloaded into is no objection, but no proof either.
    let secure = || ObservedProcess {
        secure: true,
        ..without("")
    };
    assert_eq!(remedy.in_effect(&observation(vec![with(), secure()])), Ok(()));
    assert!(
        remedy
            .in_effect(&observation(vec![secure()]))
            .unwrap_err()
            .contains("in no process")
    );
}

//! Bound copies of programs, from outside: the same output and the same end as the original, in every way of linking; the
//! original in every case in which the copy would be wrong.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

fn underhood(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .args(arguments)
        .env_remove("LD_PRELOAD")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with a program and its libraries, and the folder for copies.
struct Built {
    folder: tempfile::TempDir,
    program: PathBuf,
}

/// How a set is linked.
struct Way {
    name: &'static str,
    library: &'static [&'static str],
    program: &'static [&'static str],
    soname: bool,
}

const WAYS: [Way; 6] = [
    Way {
        name: "as usual",
        library: &[],
        program: &[],
        soname: true,
    },
    Way {
        name: "bound at start, packed relocations, both hashes",
        library: &[
            "-Wl,-z,now",
            "-Wl,-z,pack-relative-relocs",
            "-Wl,--hash-style=both",
        ],
        program: &["-Wl,-z,now", "-Wl,-z,pack-relative-relocs"],
        soname: true,
    },
    Way {
        name: "program at fixed addresses",
        library: &["-Wl,-z,lazy"],
        program: &["-no-pie", "-fno-pie", "-Wl,-z,lazy"],
        soname: true,
    },
    Way {
        name: "no names of their own, old hash, no procedure table",
        library: &["-Wl,--hash-style=sysv", "-fno-plt"],
        program: &["-Wl,--hash-style=sysv", "-fno-plt"],
        soname: false,
    },
    Way {
        name: "one page for code and data, no RELRO, symbols bound inside",
        library: &[
            "-Wl,-z,norelro",
            "-Wl,-z,noseparate-code",
            "-Wl,-Bsymbolic-functions",
            "-g",
        ],
        program: &["-Wl,-z,norelro", "-Wl,-z,noseparate-code", "-g"],
        soname: true,
    },
    Way {
        name: "gold",
        library: &["-fuse-ld=gold"],
        program: &["-fuse-ld=gold"],
        soname: true,
    },
];

fn compile(arguments: &[&str]) {
    let output = Command::new("g++").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
}

fn build(way: &Way) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (source, name, needs) in [
        ("first.c", "libfirst.so", None),
        ("second.cc", "libsecond.so", Some("-lfirst")),
    ] {
        let source = format!("{SOURCES}/{source}");
        let language = if source.ends_with(".c") { "-xc" } else { "-xc++" };
        let (target, search) = (path(name), format!("-L{}", path("")));
        let soname = format!("-Wl,-soname,{name}.1");
        let mut arguments = vec![
            "-shared", "-fPIC", "-O1", language, &source, "-o", &target, &search,
        ];
        arguments.extend(needs);
        arguments.push("-Wl,-rpath,$ORIGIN");
        if way.soname {
            arguments.push(&soname);
        }
        arguments.extend(way.library);
        compile(&arguments);
        symlink(name, folder.path().join(format!("{name}.1"))).unwrap();
    }
    let program = folder.path().join("program");
    let (source, target, search) = (
        format!("{SOURCES}/main.cc"),
        program.display().to_string(),
        format!("-L{}", path("")),
    );
    let mut arguments = vec![
        "-O1",
        &source,
        "-o",
        &target,
        &search,
        "-lsecond",
        "-lfirst",
        "-Wl,-rpath,$ORIGIN",
        "-pthread",
    ];
    arguments.extend(way.program);
    compile(&arguments);
    symlink("libfirst.so", folder.path().join("another-name.so")).unwrap();
    Built { folder, program }
}

impl Built {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bind(&self, more: &[&str]) -> PathBuf {
        let out = self.path("out").display().to_string();
        let program = self.program.display().to_string();
        let output = underhood(&[&["image", "bind", &program, "--out", &out], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        self.path("out/program")
    }

    /// What the program is told on its command line: names of the first library.
    fn names(&self) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        vec![
            "libfirst.so.1".to_owned(),
            path("libfirst.so"),
            path("libfirst.so.1"),
            path("another-name.so"),
        ]
    }

    fn run(&self, program: &Path, change: &dyn Fn(&mut Command)) -> (String, String, Option<i32>) {
        let mut command = Command::new(program);
        command
            .args(self.names())
            .env("UNDERHOOD_VERBOSE", "1")
            .env_remove("LD_LIBRARY_PATH");
        change(&mut command);
        let output = command.output().unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code())
    }
}

/// The line with which the guard says why the original runs; empty when the copy ran.
fn reason(built: &Built, copy: &Path, change: &dyn Fn(&mut Command)) -> String {
    let stock = built.run(&built.program, change);
    let found = built.run(copy, change);
    let (said, errors): (Vec<&str>, Vec<&str>) =
        found.1.lines().partition(|line| line.starts_with("underhood: "));
    assert_eq!(
        (&found.0, errors.join("\n"), found.2),
        (&stock.0, stock.1.trim_end().to_owned(), stock.2)
    );
    said.first().unwrap_or(&"").to_string()
}

#[test]
fn the_original_runs_wherever_the_copy_would_be_wrong() {
    let built = build(&WAYS[0]);
    let copy = built.bind(&[]);
    let bound = |what: &str, change: &dyn Fn(&mut Command)| {
        let reason = reason(&built, &copy, change);
        assert_eq!(reason, "", "{what}");
    };
    let original = |what: &str, change: &dyn Fn(&mut Command)| {
        let reason = reason(&built, &copy, change);
        assert!(reason.contains(what), "{what}: {reason}");
    };
    bound("as it is", &|_| {});
    bound("empty", &|command| {
        command.env("LD_PRELOAD", "").env("LD_LIBRARY_PATH", "");
    });
    original("LD_PRELOAD", &|command| {
        command.env("LD_PRELOAD", built.path("libsecond.so"));
    });
    original("LD_LIBRARY_PATH", &|command| {
        command.env("LD_LIBRARY_PATH", "/tmp");
    });
    original("GLIBC_TUNABLES", &|command| {
        command.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2");
    });
    bound("a tunable of the heap", &|command| {
        command.env("GLIBC_TUNABLES", "glibc.malloc.arena_max=1");
    });

    // A library is replaced by one that does something else, as a package manager does it.
    let library = built.path("libfirst.so");
    let kept = built.path("kept.so");
    let source = fs::read_to_string(format!("{SOURCES}/first.c"))
        .unwrap()
        .replace("return 5", "return 6");
    fs::write(built.path("other.c"), source).unwrap();
    let other = built.path("other.so").display().to_string();
    fs::rename(&library, &kept).unwrap();
    compile(&[
        "-shared",
        "-fPIC",
        "-O1",
        "-xc",
        &built.path("other.c").display().to_string(),
        "-o",
        &other,
        "-Wl,-soname,libfirst.so.1",
    ]);
    fs::rename(&other, &library).unwrap();
    original("libfirst.so", &|_| {});
    // It was bound against the old one; now it is bound again.
    let out = built.path("out").display().to_string();
    assert!(underhood(&["image", "bind", "--refresh", &out]).status.success());
    bound("refreshed", &|_| {});

    // A copy is lost.
    let lib = fs::read_dir(built.path("out/.underhood"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("lib"));
    let copies: Vec<PathBuf> = lib
        .flat_map(|lib| fs::read_dir(lib).unwrap())
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let moved: Vec<_> = copies
        .iter()
        .filter(|path| path.ends_with("libsecond.so.1"))
        .collect();
    assert!(!moved.is_empty());
    for path in &moved {
        fs::rename(path, path.with_extension("away")).unwrap();
    }
    original("libsecond.so.1", &|_| {});
    for path in &moved {
        fs::rename(path.with_extension("away"), path).unwrap();
    }
    bound("back again", &|_| {});

    // Where the loader looks first there was nothing, and now there is something.
    let early = built.path("glibc-hwcaps");
    let searched = underhood(&[
        "image",
        "inspect",
        "--closure",
        "--json",
        "-",
        "--quiet",
        &built.program.display().to_string(),
    ]);
    if text(&searched.stdout).contains("glibc-hwcaps/x86-64-v2/libsecond.so.1") {
        fs::create_dir_all(early.join("x86-64-v2")).unwrap();
        fs::copy(&library, early.join("x86-64-v2/libsecond.so.1")).unwrap();
        original("glibc-hwcaps", &|_| {});
        fs::remove_dir_all(&early).unwrap();
        bound("gone again", &|_| {});
    }

    // The program itself is newer.
    let newer = fs::File::options().append(true).open(&built.program).unwrap();
    newer
        .set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(5))
        .unwrap();
    drop(newer);
    original("program", &|_| {});
}

#[test]
fn the_copy_runs_in_every_surrounding() {
    let built = build(&WAYS[2]);
    let copy = built.bind(&[]);
    let expected = built.run(&built.program, &|_| {});
    let copy_text = copy.display().to_string();
    let names = built.names();
    for wrapper in [
        &["setarch", "-R"][..],
        &["sh", "-c", "ulimit -s unlimited; exec \"$0\" \"$@\""],
        &["sh", "-c", "ulimit -n 20; exec \"$0\" \"$@\""],
        &["env", "LD_DEBUG=statistics", "LD_DEBUG_OUTPUT=/dev/null"],
        &["nice", "-n", "5"],
    ] {
        let output = Command::new(wrapper[0])
            .args(&wrapper[1..])
            .arg(&copy_text)
            .args(&names)
            .env("UNDERHOOD_VERBOSE", "1")
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .unwrap();
        let found = (text(&output.stdout), text(&output.stderr), output.status.code());
        assert_eq!(found, expected, "{wrapper:?}");
    }
    // As somebody else, who may read it.
    for folder in [built.folder.path(), built.path("out").as_path()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&copy_text)
        .args(&names)
        .env("UNDERHOOD_VERBOSE", "1")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    if output.status.code() != Some(1) {
        assert_eq!(
            (text(&output.stdout), text(&output.stderr)),
            (expected.0.clone(), expected.1.clone())
        );
    }
    // 200 at once.
    let children: Vec<_> = (0..200)
        .map(|_| {
            let mut command = Command::new(&copy);
            command
                .args(&names)
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (text(&output.stdout), output.status.code()),
            (expected.0.clone(), Some(3))
        );
    }
}

#[test]
fn a_debugger_sees_the_copy_as_a_program() {
    let built = build(&WAYS[4]);
    let copy = built.bind(&[]);
    let Ok(output) = Command::new("gdb")
        .args([
            "-batch",
            "-ex",
            "catch throw",
            "-ex",
            "run",
            "-ex",
            "backtrace",
            "--args",
        ])
        .arg(&copy)
        .output()
    else {
        println!("SKIPPED: gdb is missing; on Debian: apt-get install gdb");
        return;
    };
    let said = text(&output.stdout);
    for function in ["second_throws", "main"] {
        assert!(said.contains(function), "{said}\n{}", text(&output.stderr));
    }
}

#[test]
fn copies_come_and_go_without_a_trace() {
    let built = build(&WAYS[0]);
    let before = listing(built.folder.path());
    let copy = built.bind(&[]);
    let out = built.path("out").display().to_string();
    let verified = underhood(&["image", "verify", &out]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
    // Again, which leaves one set beside the copy, and the one before for those who are just starting it.
    for _ in 0..3 {
        built.bind(&[]);
    }
    assert_eq!(fs::read_dir(built.path("out/.underhood")).unwrap().count(), 2);
    // A copy is not bound itself.
    let refused = underhood(&[
        "image",
        "bind",
        &copy.display().to_string(),
        "--out",
        &built.path("again").display().to_string(),
    ]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert!(underhood(&["image", "undo", &out]).status.success());
    assert_eq!(listing(built.folder.path()), before);
}

/// All files below a folder, with what `stat` says of them.
fn listing(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut next = vec![folder.to_owned()];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let metadata = entry.path().symlink_metadata().unwrap();
            if metadata.is_dir() {
                next.push(entry.path());
            } else {
                found.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_cannot_be_bound_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = path("a.c");
    fs::write(
        &source,
        "#include <stdio.h>\nint main(void) { puts(\"/proc/self/exe\"); return 0; }\n",
    )
    .unwrap();
    compile(&["-xc", &source, "-o", &path("curious")]);
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    compile(&["-xc", &source, "-o", &path("plain")]);
    compile(&["-xc", "-static", &source, "-o", &path("static")]);
    fs::copy(path("plain"), path("setuid")).unwrap();
    fs::set_permissions(path("setuid"), fs::Permissions::from_mode(0o4755)).unwrap();
    fs::write(path("script"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    let whole = fs::read(path("plain")).unwrap();
    fs::write(path("cut"), &whole[..whole.len() / 2]).unwrap();
    fs::set_permissions(path("cut"), fs::Permissions::from_mode(0o755)).unwrap();
    for (name, code, why) in [
        ("curious", 3, "--noticing"),
        ("static", 3, "statically linked"),
        ("setuid", 3, "more rights"),
        ("script", 2, "ELF"),
        ("cut", 2, "damaged"),
        ("missing", 2, "No such file"),
    ] {
        let output = underhood(&["image", "bind", &path(name), "--out", &path("out")]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{name}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains(why),
            "{name}: {}",
            text(&output.stderr)
        );
        assert!(!folder.path().join("out").exists(), "{name}");
    }
    // What is there already and no copy stays.
    fs::create_dir(path("out")).unwrap();
    fs::write(path("out/plain"), "mine").unwrap();
    let output = underhood(&["image", "bind", &path("plain"), "--out", &path("out")]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(fs::read(path("out/plain")).unwrap(), b"mine");
}

#[test]
fn a_program_cannot_tell_the_copy_from_the_original() {
    for way in &WAYS {
        let built = build(way);
        let expected = built.run(&built.program, &|_| {});
        assert_eq!(expected.2, Some(3), "{}: {}", way.name, expected.1);
        for only_moved in [false, true] {
            let copy = if only_moved {
                let out = built.path("out").display().to_string();
                let program = built.program.display().to_string();
                let output = underhood(&["image", "rebase", &program, "--out", &out]);
                assert!(output.status.success(), "{}", text(&output.stderr));
                built.path("out/program")
            } else {
                built.bind(&[])
            };
            for now in ["", "1"] {
                let found = built.run(&copy, &|command| {
                    command.env("LD_BIND_NOW", now);
                });
                assert_eq!(
                    found, expected,
                    "{}, only moved: {only_moved}, now: {now}",
                    way.name
                );
            }
        }
    }
}

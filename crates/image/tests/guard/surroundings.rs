//! A guarded program sees what the original would have seen, however it is started.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{Guarded, compile, run, seen, split, text};

/// Runs the same words with the original and with the copy for `PROGRAM`; both must see the same.
#[track_caller]
fn compare(probe: &Guarded, words: &[&str]) {
    let output = |program: &Path| -> Output {
        let words = words
            .iter()
            .map(|word| word.replace("PROGRAM", &program.display().to_string()));
        let words: Vec<_> = words.collect();
        Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .output()
            .expect("it starts")
    };
    let (exe, guarded) = seen(&output(&probe.copy));
    assert_eq!(exe, "exe copy");
    let stock = seen(&output(&probe.original)).1;
    let copy = probe.copy.display().to_string();
    let own = |line: &&str| !line.starts_with("variable _=") && !line.contains(&copy);
    assert_eq!(
        guarded.lines().filter(own).collect::<Vec<_>>(),
        stock
            .lines()
            .filter(|line| !line.starts_with("variable _="))
            .collect::<Vec<_>>(),
        "{words:?}"
    );
}

#[test]
fn everything_passes_through() {
    let probe = Guarded::filled();
    let variables = [("A", "b"), ("HOME", "/root"), ("EMPTY", "")];
    let (exe, guarded) = seen(&probe.run(&variables));
    assert_eq!(exe, "exe copy");
    assert_eq!(guarded, seen(&run(&probe.original, &variables)).1);
    assert!(guarded.contains("loader at AT_BASE 1\n"), "{guarded}");
    assert!(guarded.contains("stack aligned 1\n"), "{guarded}");
    assert!(
        guarded.contains(&format!("argument {}\n", probe.original.display())),
        "{guarded}"
    );
}

#[test]
fn a_name_without_a_slash_stays() {
    let probe = Guarded::filled();
    let output = Command::new("copy")
        .env_clear()
        .env("PATH", probe.folder.path())
        .output()
        .unwrap();
    let (exe, said) = seen(&output);
    assert_eq!(exe, "exe copy");
    assert!(said.contains("argument copy\n"), "{said}");
    assert!(
        said.contains(&format!("execfn {}\n", probe.original.display())),
        "{said}"
    );
}

#[test]
fn under_other_address_spaces() {
    let probe = Guarded::filled();
    compare(&probe, &["setarch", "-R", "PROGRAM"]);
    compare(&probe, &["setarch", "-L", "PROGRAM"]);
    compare(&probe, &["sh", "-c", "ulimit -s unlimited && exec PROGRAM"]);
    compare(&probe, &["sh", "-c", "ulimit -s 256 && exec PROGRAM"]);
    compare(&probe, &["sh", "-c", "ulimit -n 8 && exec PROGRAM"]);
}

#[expect(clippy::print_stdout, reason = "what is left out must be said")]
#[test]
fn as_another_user() {
    let probe = Guarded::filled();
    let words = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "PROGRAM",
    ];
    let tried = Command::new(words[0])
        .args(&words[1..4])
        .arg("/bin/true")
        .status();
    if tried.is_ok_and(|status| status.success()) {
        compare(&probe, &words);
    } else {
        println!("SKIPPED: only root may become another user");
    }
}

#[test]
fn with_closed_streams() {
    let probe = Guarded::filled();
    let result = probe.folder.path().join("result");
    let out = format!("OUT={}", result.display());
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let mut said = Vec::new();
        for program in [&probe.copy, &probe.original] {
            let line = format!("exec env -i {out} {} {closed}", program.display());
            assert!(
                Command::new("sh").args(["-c", &line]).status().unwrap().success(),
                "{line}"
            );
            said.push(split(&fs::read_to_string(&result).unwrap()));
        }
        assert_eq!(said[0].0, "exe copy", "{closed}");
        assert_eq!(said[0].1, said[1].1, "{closed}");
    }
}

#[test]
fn without_arguments_and_variables() {
    let probe = Guarded::filled();
    let helper = probe.folder.path().join("no_arguments");
    compile("no_arguments.c", &helper, &[]);
    let outputs = [&probe.copy, &probe.original]
        .map(|program| seen(&Command::new(&helper).arg(program).output().unwrap()));
    assert_eq!(outputs[0].0, "exe copy");
    assert_eq!(outputs[0].1, outputs[1].1);
    assert!(!outputs[0].1.contains("variable"), "{}", outputs[0].1);
}

#[test]
fn with_a_large_environment() {
    let probe = Guarded::filled();
    let variables: Vec<_> = (0..1000)
        .map(|number| (format!("VARIABLE_{number}"), "v".repeat(100)))
        .collect();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let (exe, guarded) = seen(&probe.run(&variables));
    assert_eq!(exe, "exe copy");
    assert_eq!(guarded, seen(&run(&probe.original, &variables)).1);
}

#[test]
fn many_at_once() {
    let probe = Guarded::filled();
    let started: Vec<_> = (0..200)
        .map(|_| {
            Command::new(&probe.copy)
                .env_clear()
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts")
        })
        .collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert_eq!(seen(&output).0, "exe copy", "{}", text(&output.stderr));
    }
}
